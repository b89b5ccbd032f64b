"""Fetching, against a file server on this machine: the real addresses cannot be tried in a test."""

import functools
import gzip
import hashlib
import http.server
import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from probekit import cli
from probekit.errors import ProbeError
from probekit.probes import download
from probekit.probes import fetch as module
from probekit.probes.fetch import KEPT, fetch, holding, listing, sources

FILES = {"Google_RE/a.jsonl": b'{"one": 1}\n', "relations.jsonl": b'{"two": 2}\n'}


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    served = tmp_path / "served"
    for name, data in FILES.items():
        (served / name).parent.mkdir(parents=True, exist_ok=True)
        (served / name).write_bytes(data)
    listing = {f"lama/{n}": {"path": n, "sha256": hashlib.sha256(d).hexdigest()} for n, d in FILES.items()}
    about = {
        "title": "Small",
        "licence": "CC BY 4.0",
        "licence_url": "https://example.org",
        "missing": "",
        "size": 2_000_000,
        "tried": False,
        "base": "http://0.0.0.0:9/",
    }
    monkeypatch.setattr(module, "sources", lambda: {"lama": {**about, "files": listing}})
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", served
    server.shutdown()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0)


def packed(place: Path, **held: bytes) -> Path:
    with tarfile.open(place, "w:gz") as archive:
        for name, data in held.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return place


@pytest.fixture
def archived(mirror, monkeypatch):
    """A source that is one archive, without a known hash."""
    held = {"./A/one.jsonl": b"1\n", "A/deep/two.jsonl": b"2\n", "A/notes.txt": b"no", "B/three.jsonl": b"3\n"}
    packed(mirror[1] / "all.tar.gz", **held)
    source = module.sources()["lama"] | {"archive": {"path": "all.tar.gz"}, "unpack": {"lama/X": "A"}, "size": 0}
    del source["files"]
    monkeypatch.setattr(module, "sources", lambda: {"small": source})
    return source


def yes(_notice):
    return True


def test_files_come_in_the_publishers_layout(mirror, tmp_path):
    paths = fetch("lama", yes, tmp_path / "data", mirror[0])
    assert [p.relative_to(tmp_path / "data").as_posix() for p in paths] == [f"lama/{n}" for n in FILES]
    assert [p.read_bytes() for p in paths] == list(FILES.values())


def test_what_is_there_and_right_is_not_fetched_again(mirror, tmp_path):
    fetch("lama", yes, tmp_path / "data", mirror[0])
    assert fetch("lama", yes, tmp_path / "data", "http://127.0.0.1:9/")


def test_a_wrong_hash_keeps_nothing(mirror, tmp_path):
    (mirror[1] / "relations.jsonl").write_bytes(b"other")
    with pytest.raises(ProbeError, match="relations.jsonl: the SHA-256 of what came is not the one expected; nothing"):
        fetch("lama", yes, tmp_path / "data", mirror[0])
    assert not (tmp_path / "data/lama/relations.jsonl").exists()
    assert (tmp_path / "data/lama/Google_RE/a.jsonl").exists()


def test_no_server_is_an_error_of_ours(mirror, tmp_path):
    with pytest.raises(ProbeError, match="cannot fetch"):
        fetch("lama", yes, tmp_path / "data", "http://127.0.0.1:9/")
    (mirror[1] / "relations.jsonl").unlink()
    with pytest.raises(ProbeError, match="404"):
        fetch("lama", yes, tmp_path / "data", mirror[0])


def test_the_licence_is_shown_and_must_be_accepted(mirror, tmp_path, capsys):
    arguments = ["fetch", "lama", "--into", str(tmp_path / "data"), "--base", mirror[0]]
    assert cli.main(arguments) == 1
    shown = capsys.readouterr()
    assert "CC BY 4.0" in shown.out and "not accepted" in shown.err
    assert not (tmp_path / "data").exists()
    assert cli.main([*arguments, "--yes"]) == 0
    assert "2 files" in capsys.readouterr().out


def test_a_broken_off_file_is_taken_up_where_it_ends(mirror, tmp_path):
    part = tmp_path / "data/lama/Google_RE/.a.jsonl.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(FILES["Google_RE/a.jsonl"][:4])  # this server sends no parts, so it begins anew
    assert fetch("lama", yes, tmp_path / "data", mirror[0])[0].read_bytes() == FILES["Google_RE/a.jsonl"]
    assert not part.exists()


def test_a_busy_server_is_asked_again(mirror, tmp_path, monkeypatch):
    left = [503, 429]
    handle = http.server.SimpleHTTPRequestHandler.do_GET

    def busy(self):
        self.send_error(left.pop()) if left else handle(self)

    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "do_GET", busy)
    assert len(fetch("lama", yes, tmp_path / "data", mirror[0])) == 2 and not left
    left += [503] * 50
    with pytest.raises(ProbeError, match="cannot fetch .*503"):
        fetch("lama", yes, tmp_path / "other", mirror[0])
    assert len(left) == 50 - 1 - download.TRIES


def test_what_nobody_vouches_for_needs_trust_and_is_pinned_from_then_on(mirror, archived, tmp_path):
    data = tmp_path / "data"
    with pytest.raises(ProbeError, match="no hash of .*all.tar.gz is known, .*--trust"):
        fetch("small", yes, data, mirror[0])
    assert not (data / "lama").exists()
    paths = fetch("small", yes, data, mirror[0], trust=True)
    assert [(p.relative_to(data).as_posix(), p.read_bytes()) for p in paths] == [
        ("lama/X/one.jsonl", b"1\n"),
        ("lama/X/deep/two.jsonl", b"2\n"),
    ]
    assert {path.name for path in data.iterdir()} == {"lama", KEPT, ".fetch.lock"}  # the archive is gone
    assert fetch("small", yes, data, "http://127.0.0.1:9/") == paths  # nothing is asked
    paths[1].unlink()
    packed(mirror[1] / "all.tar.gz", **{"A/one.jsonl": b"another"})
    with pytest.raises(ProbeError, match="SHA-256 of what came is not the one expected"):
        fetch("small", yes, data, mirror[0], trust=True)
    assert paths[0].read_bytes() == b"1\n" and not paths[1].exists()


def test_files_that_are_there_stay_when_an_archive_is_unpacked(mirror, archived, tmp_path):
    mine = tmp_path / "data/lama/X/one.jsonl"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    fetch("small", yes, tmp_path / "data", mirror[0], trust=True)
    assert mine.read_bytes() == b"mine" and (mine.parent / "deep/two.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>Are you sure?</html>", "cannot be read as a .tar.gz"),
        ({"A/../../evil.jsonl": b"x"}, "leads out of the archive"),
        ({"C/other.jsonl": b"x"}, "holds no .jsonl file below A"),
    ],
)
def test_an_archive_of_another_kind_is_refused(mirror, archived, tmp_path, content, said):
    place = mirror[1] / "all.tar.gz"
    place.write_bytes(content) if isinstance(content, bytes) else packed(place, **content)
    with pytest.raises(ProbeError, match=said):
        fetch("small", yes, tmp_path / "data", mirror[0], trust=True)
    assert {path.name for path in (tmp_path / "data").iterdir()} == {".fetch.lock"}
    assert not (tmp_path / "evil.jsonl").exists()


def test_a_large_member_of_an_archive_is_refused(mirror, archived, tmp_path, monkeypatch):
    packed(mirror[1] / "all.tar.gz", **{"A/large.jsonl": b"x" * 100})
    monkeypatch.setattr("probekit.files.reading.HELD", 26)
    with pytest.raises(ProbeError, match=r"A/large.jsonl has more than 26 bytes, the limit"):
        fetch("small", yes, tmp_path / "data", mirror[0], trust=True)


def test_the_list_says_size_hash_and_licence(mirror, archived, tmp_path, monkeypatch, capsys):
    first, *rest = listing(tmp_path)
    assert first.split(maxsplit=1) == [
        "small",
        "size not known; an archive; not pinned: needs --trust; download never tried",
    ]
    assert [line.strip() for line in rest] == ["Small", "http://0.0.0.0:9/all.tar.gz", "CC BY 4.0, https://example.org"]
    monkeypatch.undo()
    assert cli.main(["fetch", "--list", "--into", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{told}" for name in sources())
    with pytest.raises(SystemExit):
        cli.main(["fetch"])


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
