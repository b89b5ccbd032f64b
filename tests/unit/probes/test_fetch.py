"""Fetching from a server on this machine, which lists, cuts off and lies; the real addresses cannot be tried."""

import gzip
import hashlib
import http.server
import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from probekit.cli import main
from probekit.errors import ProbeError, StoreError
from probekit.probes import download
from probekit.probes import fetch as module
from probekit.probes.fetch import HASHES, fetch, holding, listing, sources
from probekit.probes.lipid.fetch import BASE, BASELINE, fetch_baseline, fetch_updates

FILES = {"Google_RE/a.jsonl": b'{"one": 1}\n', "relations.jsonl": b'{"two": 2}\n'}
PUBMED = {f"pubmed22n{n}.xml.gz": bytes(range(256)) * (n - 1100) + b"end" for n in range(1115, 1119)}
DAYS = dict(zip(PUBMED, ("2021-12-14", "2021-12-31", "2022-01-03", "2022-07-01"), strict=True))
LATER = ["pubmed22n1117.xml.gz", "pubmed22n1118.xml.gz"]
NOWHERE = "http://127.0.0.1:9/"


def listed(days: dict) -> bytes:
    """As NCBI's server writes it."""
    lines = [
        f'<a href="{name}{end}">{name}{end}</a>      {day} 14:03   {size}  '
        for name, day in days.items()
        for end, size in (("", "39M"), (".md5", " 60 "))
    ]
    head = '<pre>Name   Last modified   Size  <hr><a href="/pubmed/">Parent Directory</a>   -   \n'
    return (
        head + "\n".join([*lines, '<a href="README.txt">README.txt</a>  2022-02-02 09:00  4K']) + "\n</pre>"
    ).encode()


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``; ``cut`` gives the bytes after which a file breaks off, once; ``asked`` notes what came in."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        sums = {f"{name}.md5": f"MD5({name})= {hashlib.md5(data).hexdigest()}\n" for name, data in PUBMED.items()}
        self.files = FILES | PUBMED | {name: text.encode() for name, text in sums.items()} | {"": listed(DAYS)}
        self.base = f"http://127.0.0.1:{self.server_port}/pubmed/"
        self.cut, self.busy = dict[str, int](), list[int]()
        self.asked: list[tuple[str, str]] = []
        self.ranges, self.tag, self.heeds = True, '"one"', True


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        name, wanted = self.path.removeprefix("/pubmed/"), self.headers.get("Range", "")
        self.server.asked.append((name, wanted))
        data = self.server.files.get(name)
        if self.server.busy or data is None:
            self.send_error(self.server.busy.pop() if self.server.busy else 404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.ranges else 0
        if self.server.heeds and self.headers.get("If-Range", self.server.tag) != self.server.tag:
            start, wanted = 0, ""
        if wanted and start >= len(data):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Encoding", "x-gzip" if name.endswith(".gz") else "identity")
        self.send_header("ETag", self.server.tag)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : self.server.cut.pop(name, None)])


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0)


@pytest.fixture
def server():
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def yes(_notice):
    return True


def seen(into: Path) -> set[str]:
    return {path.name for path in into.iterdir()} - {".fetch.lock"}


# Public data by name


@pytest.fixture
def source(server, monkeypatch):
    """A source of two files."""
    about = {"title": "Small", "licence": "CC BY 4.0", "licence_url": "https://example.org", "missing": ""}
    about |= {"size": 2_000_000, "tried": False, "base": "http://0.0.0.0:9/"}
    files = {f"lama/{n}": {"path": n, "sha256": hashlib.sha256(d).hexdigest()} for n, d in FILES.items()}
    monkeypatch.setattr(module, "sources", lambda: {"lama": about | {"files": files}})
    return about


@pytest.fixture
def archive(server, source, monkeypatch):
    """A source that is one archive, without a known hash."""
    about = source | {"archive": {"path": "all.tar.gz"}, "unpack": {"lama/X": "A"}, "size": 0}
    monkeypatch.setattr(module, "sources", lambda: {"small": about})
    held = {"./A/one.jsonl": b"1\n", "A/deep/two.jsonl": b"2\n", "A/notes.txt": b"no", "B/three.jsonl": b"3\n"}
    server.files["all.tar.gz"] = packed(**held)


def packed(**held: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in held.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return buffer.getvalue()


def test_files_come_in_the_publishers_layout_and_once(server, source, tmp_path):
    paths = fetch("lama", yes, tmp_path, server.base)
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == [f"lama/{n}" for n in FILES]
    assert [p.read_bytes() for p in paths] == list(FILES.values())
    assert fetch("lama", yes, tmp_path, NOWHERE) == paths  # nothing is asked
    with pytest.raises(ProbeError, match="cannot fetch"):
        fetch("lama", yes, tmp_path / "other", NOWHERE)


def test_the_licence_is_shown_and_must_be_accepted(server, source, tmp_path, capsys):
    arguments = ["fetch", "lama", "--into", str(tmp_path / "data"), "--base", server.base]
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert "CC BY 4.0" in shown.out and "not accepted" in shown.err
    assert not (tmp_path / "data").exists()
    assert main([*arguments, "--yes"]) == 0
    assert "2 files" in capsys.readouterr().out


def test_nothing_is_asked_where_all_files_are_at_hand(server, source, tmp_path, capsys):
    *_, path = fetch("lama", yes, tmp_path, server.base)
    assert main(["fetch", "lama", "--into", str(tmp_path), "--base", NOWHERE]) == 0
    assert capsys.readouterr().out == f"nothing to fetch: {tmp_path} holds 2 files, all of lama\n"
    zipped = path.with_name(f"{path.name}.gz")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert module.at_hand("lama", tmp_path)[1] == zipped
    zipped.write_bytes(gzip.compress(b"other"))
    assert module.at_hand("lama", tmp_path) == []


def test_a_busy_server_is_asked_again(server, source, tmp_path):
    server.busy = [503, 429]
    assert len(fetch("lama", yes, tmp_path / "data", server.base)) == 2 and not server.busy
    server.busy = [503] * 50
    with pytest.raises(ProbeError, match="cannot fetch .*503"):
        fetch("lama", yes, tmp_path / "other", server.base)
    assert len(server.busy) == 50 - 1 - download.TRIES


def test_what_nobody_vouches_for_needs_trust_and_is_pinned_from_then_on(server, archive, tmp_path):
    data = tmp_path / "data"
    with pytest.raises(ProbeError, match="no hash of .*all.tar.gz is known, .*--trust"):
        fetch("small", yes, data, server.base)
    assert not (data / "lama").exists()
    paths = fetch("small", yes, data, server.base, trust=True)
    assert [(p.relative_to(data).as_posix(), p.read_bytes()) for p in paths] == [
        ("lama/X/one.jsonl", b"1\n"),
        ("lama/X/deep/two.jsonl", b"2\n"),
    ]
    assert seen(data) == {"lama", HASHES}  # the archive is gone
    assert fetch("small", yes, data, NOWHERE) == paths  # nothing is asked
    paths[1].unlink()
    server.files["all.tar.gz"] = packed(**{"A/one.jsonl": b"another"})
    with pytest.raises(ProbeError, match="SHA-256 of what came is not the one expected"):
        fetch("small", yes, data, server.base, trust=True)
    assert paths[0].read_bytes() == b"1\n" and not paths[1].exists()


def test_files_that_are_there_stay_when_an_archive_is_unpacked(server, archive, tmp_path):
    mine = tmp_path / "data/lama/X/one.jsonl"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    fetch("small", yes, tmp_path / "data", server.base, trust=True)
    assert mine.read_bytes() == b"mine" and (mine.parent / "deep/two.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>Are you sure?</html>", "cannot be read as a .tar.gz"),
        (packed(**{"A/../../evil.jsonl": b"x"}), "leads out of the archive"),
        (packed(**{"C/other.jsonl": b"x"}), "holds no .jsonl file below A"),
        (packed(**{"A/large.jsonl": b"x" * 100}), "A/large.jsonl has more than 26 bytes, the limit"),
    ],
    ids=["no archive", "climbs", "empty", "large"],  # an archive's bytes hold the second it was made in
)
def test_an_archive_of_another_kind_is_refused(server, archive, tmp_path, monkeypatch, content, said):
    server.files["all.tar.gz"] = content
    monkeypatch.setattr("probekit.files.reading.HELD", 26)
    with pytest.raises(ProbeError, match=said):
        fetch("small", yes, tmp_path / "data", server.base, trust=True)
    assert seen(tmp_path / "data") == set() and not (tmp_path / "evil.jsonl").exists()


def test_the_list_says_size_hash_and_licence(archive, tmp_path, monkeypatch, capsys):
    first, *rest = listing(tmp_path)
    assert first.split(maxsplit=1) == [
        "small",
        "size not known; an archive; not pinned: needs --trust; download never tried",
    ]
    assert [line.strip() for line in rest] == ["Small", "http://0.0.0.0:9/all.tar.gz", "CC BY 4.0, https://example.org"]
    monkeypatch.undo()
    assert main(["fetch", "--list", "--into", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{told}" for name in sources())
    with pytest.raises(SystemExit):
        main(["fetch"])


def test_what_is_missing_is_got_where_it_is():
    assert holding("lama/Squad/test.jsonl") == "lama" and holding("lama/ConceptNet/test.jsonl") == "lama_archive"
    assert holding("bear/BEAR") == "bear" and holding("biolama/data/ctd/prompts/manual.jsonl") == "biolama"
    assert holding("mine/x") == "" and holding("biolama/data/umls/prompts/manual.jsonl") == "biolama"


def test_pinned_sources_are_complete():
    with pytest.raises(ProbeError, match="nothing called 'nothing'"):
        fetch("nothing", yes)
    with pytest.raises(ProbeError, match="is 'honest' meant"):
        fetch("honst", yes)
    for source in sources().values():
        assert source["base"].startswith("https://") and source["licence"] and source["licence_url"] and source["title"]
        assert isinstance(source["size"], int) and source["tried"] is False
        assert ("archive" in source and "unpack" in source) != ("files" in source)
        for name, file in source.get("files", {}).items():
            assert len(file["sha256"]) == 64 and Path(name).suffix == Path(file["path"]).suffix


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("PROBEKIT_DATA"), reason="needs data: PROBEKIT_DATA names no folder")
@pytest.mark.parametrize("name", sources())
def test_the_pinned_hashes_are_those_of_the_files_at_hand(name):
    known = 0
    for relative, file in sources()[name].get("files", {}).items():
        path = Path(os.environ["PROBEKIT_DATA"]) / relative
        zipped = path.with_name(f"{path.name}.gz")
        if path.is_file() or zipped.is_file():
            data = path.read_bytes() if path.is_file() else gzip.decompress(zipped.read_bytes())
            assert hashlib.sha256(data).hexdigest() == file["sha256"], relative
            known += 1
    if not known:
        pytest.skip(f"no file of {name} is at hand")


# One file, resumed


@pytest.mark.parametrize("heeded", [True, False])
@pytest.mark.parametrize(("tag", "kept"), [('"one"', True), ('"another"', False), ('W/"one"', False)])
def test_without_a_hash_only_a_part_of_the_same_content_is_taken_up(server, tmp_path, tag, kept, heeded):
    place, name = tmp_path / "a.gz", LATER[1]
    server.cut, server.heeds = {name: 1000}, heeded
    server.tag = tag if tag.startswith("W/") else server.tag
    with pytest.raises(ProbeError, match="cannot fetch"):
        download.download(server.base + name, place)
    assert seen(tmp_path) == {".a.gz.part", ".a.gz.tag"}
    server.tag, server.files[name] = tag, PUBMED[name] if kept else bytes(reversed(PUBMED[name]))
    (tmp_path / ".a.gz.part").write_bytes(b"x" * 1000)
    assert download.download(server.base + name, place) == hashlib.sha256(place.read_bytes()).hexdigest()
    assert place.read_bytes() == (b"x" * 1000 + PUBMED[name][1000:] if kept else server.files[name])
    assert seen(tmp_path) == {"a.gz"}


def test_without_a_hash_and_a_tag_a_part_is_not_trusted(server, tmp_path):
    (tmp_path / ".a.gz.part").write_bytes(b"x" * 1000)
    download.download(server.base + LATER[1], tmp_path / "a.gz")
    assert (tmp_path / "a.gz").read_bytes() == PUBMED[LATER[1]]


# PubMed's files


def updates(server: Server, into: Path, after: str = "2021-12-31") -> list[Path]:
    return fetch_updates(after, into, yes, server.base.rstrip("/"))


def test_files_after_the_day_come_as_they_are(server, tmp_path):
    paths = updates(server, tmp_path / "new")
    assert [path.name for path in paths] == LATER and seen(tmp_path / "new") == set(LATER)
    assert [path.read_bytes() for path in paths] == [PUBMED[name] for name in LATER]  # still zipped
    server.asked.clear()
    assert updates(server, tmp_path / "new") == paths
    assert [name for name, _ in server.asked] == ["", *(f"{name}.md5" for name in LATER)]
    assert len(updates(server, tmp_path / "new", "2000-01-01")) == 4


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_cut_off_is_taken_up_where_it_ends(server, tmp_path, ranges):
    server.cut, server.ranges = {LATER[1]: 1000}, ranges
    with pytest.raises(ProbeError, match=r"cannot fetch .*1118.xml.gz: .*run again"):
        updates(server, tmp_path)
    assert seen(tmp_path) == {LATER[0], f".{LATER[1]}.part"}
    assert (tmp_path / f".{LATER[1]}.part").read_bytes() == PUBMED[LATER[1]][:1000]
    server.asked.clear()
    assert [path.read_bytes() for path in updates(server, tmp_path)] == [PUBMED[name] for name in LATER]
    assert (LATER[1], "bytes=1000-") in server.asked and (LATER[0], "") not in server.asked
    (tmp_path / LATER[0]).rename(tmp_path / f".{LATER[0]}.part")  # a part that is whole is only checked
    assert updates(server, tmp_path)[0].read_bytes() == PUBMED[LATER[0]] and seen(tmp_path) == set(LATER)


def test_a_wrong_hash_keeps_nothing(server, tmp_path):
    (tmp_path / f".{LATER[1]}.part").write_bytes(b"of another file")
    with pytest.raises(ProbeError, match=r"1118.xml.gz: the MD5 of what came is not the one expected; nothing"):
        updates(server, tmp_path)
    assert seen(tmp_path) == {LATER[0]}
    assert updates(server, tmp_path)[1].read_bytes() == PUBMED[LATER[1]]
    (tmp_path / LATER[1]).write_bytes(b"changed on disk")
    assert updates(server, tmp_path)[1].read_bytes() == PUBMED[LATER[1]]


def test_what_cannot_be_fetched_is_named(server, tmp_path):
    with pytest.raises(ProbeError, match="lists no .xml.gz file later than 2022-07-01: the last of 4 is of 2022-07-01"):
        updates(server, tmp_path, "2022-07-01")
    with pytest.raises(ProbeError, match="after takes a day as YYYY-MM-DD"):
        updates(server, tmp_path, "last year")
    server.files[f"{LATER[0]}.md5"] = b"<html>no</html>"
    with pytest.raises(ProbeError, match="1117.xml.gz.md5 holds no MD5 sum"):
        updates(server, tmp_path)
    del server.files[f"{LATER[0]}.md5"]
    with pytest.raises(ProbeError, match=r"cannot fetch .*1117.xml.gz.md5: 404"):
        updates(server, tmp_path)
    server.files[""] = b'<a href="../evil.xml.gz">x</a> 2023-01-01\n<a href="a.xml.gz">a.xml.gz</a>'
    with pytest.raises(ProbeError, match="none is listed with a date"):
        updates(server, tmp_path)
    with pytest.raises(ProbeError, match=f"cannot fetch {NOWHERE}"):
        fetch_updates("2021-12-31", tmp_path, yes, NOWHERE)
    assert seen(tmp_path) == set()
    (tmp_path / "file").write_text("in the way")
    server.files[""] = listed(DAYS)
    with pytest.raises(StoreError, match="cannot write"):
        updates(server, tmp_path / "file")


def test_files_of_the_baseline_come_by_number(server, tmp_path):
    assert BASELINE == "https://ftp.ncbi.nlm.nih.gov/pubmed/baseline/"
    paths = fetch_baseline([1117, 1115, 1117], tmp_path, yes, server.base)
    assert [path.name for path in paths] == ["pubmed22n1115.xml.gz", "pubmed22n1117.xml.gz"]
    with pytest.raises(ProbeError, match="lists no file of number 3: it has 1115 to 1118"):
        fetch_baseline([1116, 3], tmp_path, yes, server.base)
    assert not (tmp_path / "pubmed22n1116.xml.gz").exists()
    given = ["lipid", "fetch", "--into", str(tmp_path), "--base", server.base, "--yes"]
    assert main([*given, "--baseline", "1116-1118"]) == 0 and len(seen(tmp_path)) == 4
    for wrong in ("x", "3-", "5-3", "0"):
        assert main([*given, "--baseline", wrong]) == 1
    with pytest.raises(SystemExit):
        main([*given, "--baseline", "1", "--after", "2022-01-01"])


def test_the_command_shows_the_terms(server, tmp_path, capsys):
    assert BASE == "https://ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/"
    given = ["lipid", "fetch", "--after", "2021-12-31", "--into", str(tmp_path / "x"), "--base", server.base]
    assert main(given) == 1
    shown = capsys.readouterr()
    assert "National Library of Medicine" in shown.out and "not accepted" in shown.err and not server.asked
    assert main([*given, "--yes"]) == 0
    assert f"2 files in {tmp_path / 'x'}" in capsys.readouterr().out
    assert main(["lipid", "fetch", "--after", "", "--into", str(tmp_path / "y"), "--yes"]) == 1
    assert "after takes a day as YYYY-MM-DD, not ''" in capsys.readouterr().err
