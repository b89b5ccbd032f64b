"""PubMed's update files from a server on this machine, which lists, cuts off and lies; NCBI's own cannot be tried."""

import hashlib
import http.server
import threading
from pathlib import Path

import pytest

from probekit.cli import main
from probekit.errors import ProbeError, StoreError
from probekit.probes import download
from probekit.probes.lipid.fetch import BASE, BASELINE, fetch_baseline, fetch_updates

DATA = {f"pubmed22n{n}.xml.gz": bytes(range(256)) * (n - 1100) + b"end" for n in range(1115, 1119)}
DAYS = dict(zip(DATA, ("2021-12-14", "2021-12-31", "2022-01-03", "2022-07-01"), strict=True))


def listing(days: dict) -> bytes:
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
        self.files = {name: data for name, data in DATA.items()}
        for name, data in DATA.items():
            self.files[f"{name}.md5"] = f"MD5({name})= {hashlib.md5(data).hexdigest()}\n".encode()
        self.files[""] = listing(DAYS)
        self.cut: dict[str, int] = {}
        self.asked: list[tuple[str, str]] = []
        self.ranges, self.tag, self.heeds = True, '"one"', True


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        name = self.path.removeprefix("/pubmed/updatefiles/")
        wanted = self.headers.get("Range", "")
        self.server.asked.append((name, wanted))
        data = self.server.files.get(name)
        if data is None:
            self.send_error(404)
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


def get(server: Server, into: Path, after: str = "2021-12-31") -> list[Path]:
    return fetch_updates(after, into, lambda _: True, f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles")


def seen(into: Path) -> set[str]:
    return {path.name for path in into.iterdir()} - {".fetch.lock"}


LATER = ["pubmed22n1117.xml.gz", "pubmed22n1118.xml.gz"]


def test_files_after_the_day_come_as_they_are(server, tmp_path):
    paths = get(server, tmp_path / "new")
    assert [path.name for path in paths] == LATER and seen(tmp_path / "new") == set(LATER)
    assert [path.read_bytes() for path in paths] == [DATA[name] for name in LATER]  # still zipped
    server.asked.clear()
    assert get(server, tmp_path / "new") == paths
    assert [name for name, _ in server.asked] == ["", *(f"{name}.md5" for name in LATER)]
    assert len(get(server, tmp_path / "new", "2000-01-01")) == 4


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_cut_off_is_taken_up_where_it_ends(server, tmp_path, ranges):
    server.cut, server.ranges = {LATER[1]: 1000}, ranges
    with pytest.raises(ProbeError, match=r"cannot fetch .*1118.xml.gz: .*run again"):
        get(server, tmp_path)
    assert seen(tmp_path) == {LATER[0], f".{LATER[1]}.part"}
    assert (tmp_path / f".{LATER[1]}.part").read_bytes() == DATA[LATER[1]][:1000]
    server.asked.clear()
    assert [path.read_bytes() for path in get(server, tmp_path)] == [DATA[name] for name in LATER]
    assert (LATER[1], "bytes=1000-") in server.asked and (LATER[0], "") not in server.asked
    assert seen(tmp_path) == set(LATER)


@pytest.mark.parametrize("heeded", [True, False])
@pytest.mark.parametrize(("tag", "kept"), [('"one"', True), ('"another"', False), ('W/"one"', False)])
def test_without_a_hash_only_a_part_of_the_same_content_is_taken_up(server, tmp_path, tag, kept, heeded):
    place, name = tmp_path / "a.gz", LATER[1]
    address = f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles/{name}"
    server.cut, server.heeds = {name: 1000}, heeded
    server.tag = tag if tag.startswith("W/") else server.tag
    with pytest.raises(ProbeError, match="cannot fetch"):
        download.download(address, place)
    assert seen(tmp_path) == {".a.gz.part", ".a.gz.tag"}
    server.tag, server.files[name] = tag, DATA[name] if kept else bytes(reversed(DATA[name]))
    (tmp_path / ".a.gz.part").write_bytes(b"x" * 1000)
    assert download.download(address, place) == hashlib.sha256(place.read_bytes()).hexdigest()
    assert place.read_bytes() == (b"x" * 1000 + DATA[name][1000:] if kept else server.files[name])
    assert seen(tmp_path) == {"a.gz"}


def test_without_a_hash_and_a_tag_a_part_is_not_trusted(server, tmp_path):
    place, name = tmp_path / "a.gz", LATER[1]
    (tmp_path / ".a.gz.part").write_bytes(b"x" * 1000)
    download.download(f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles/{name}", place)
    assert place.read_bytes() == DATA[name]


def test_a_part_that_is_whole_is_only_checked(server, tmp_path):
    (tmp_path / f".{LATER[0]}.part").write_bytes(DATA[LATER[0]])
    assert get(server, tmp_path)[0].read_bytes() == DATA[LATER[0]]
    assert seen(tmp_path) == set(LATER)


def test_a_wrong_hash_keeps_nothing(server, tmp_path):
    server.files[LATER[1]] = b"something else"
    with pytest.raises(ProbeError, match=r"1118.xml.gz: the MD5 of what came is not the one expected; nothing"):
        get(server, tmp_path)
    assert seen(tmp_path) == {LATER[0]}
    server.files[LATER[1]] = DATA[LATER[1]]
    (tmp_path / f".{LATER[1]}.part").write_bytes(b"of another file")
    with pytest.raises(ProbeError, match="nothing of it is kept"):
        get(server, tmp_path)
    assert get(server, tmp_path)[1].read_bytes() == DATA[LATER[1]]
    (tmp_path / LATER[1]).write_bytes(b"changed on disk")
    assert get(server, tmp_path)[1].read_bytes() == DATA[LATER[1]]


def test_what_cannot_be_fetched_is_named(server, tmp_path):
    with pytest.raises(ProbeError, match="lists no .xml.gz file later than 2022-07-01: the last of 4 is of 2022-07-01"):
        get(server, tmp_path, "2022-07-01")
    with pytest.raises(ProbeError, match="after takes a day as YYYY-MM-DD"):
        get(server, tmp_path, "last year")
    server.files[f"{LATER[0]}.md5"] = b"<html>no</html>"
    with pytest.raises(ProbeError, match="1117.xml.gz.md5 holds no MD5 sum"):
        get(server, tmp_path)
    del server.files[f"{LATER[0]}.md5"]
    with pytest.raises(ProbeError, match=r"cannot fetch .*1117.xml.gz.md5: 404"):
        get(server, tmp_path)
    server.files[""] = b'<a href="../evil.xml.gz">x</a> 2023-01-01\n<a href="a.xml.gz">a.xml.gz</a>'
    with pytest.raises(ProbeError, match="none is listed with a date"):
        get(server, tmp_path)
    with pytest.raises(ProbeError, match="cannot fetch http://127.0.0.1:9/"):
        fetch_updates("2021-12-31", tmp_path, lambda _: True, "http://127.0.0.1:9/")
    assert seen(tmp_path) == set()


def test_files_of_the_baseline_come_by_number(server, tmp_path):
    base = f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles"
    assert BASELINE == "https://ftp.ncbi.nlm.nih.gov/pubmed/baseline/"
    paths = fetch_baseline([1117, 1115, 1117], tmp_path, lambda _: True, base)
    assert [path.name for path in paths] == ["pubmed22n1115.xml.gz", "pubmed22n1117.xml.gz"]
    with pytest.raises(ProbeError, match="lists no file of number 3: it has 1115 to 1118"):
        fetch_baseline([1116, 3], tmp_path, lambda _: True, base)
    assert not (tmp_path / "pubmed22n1116.xml.gz").exists()
    given = ["lipid", "fetch", "--into", str(tmp_path), "--base", base, "--yes"]
    assert main([*given, "--baseline", "1116-1118"]) == 0 and len(seen(tmp_path)) == 4
    for wrong in ("x", "3-", "5-3", "0"):
        assert main([*given, "--baseline", wrong]) == 1
    with pytest.raises(SystemExit):
        main([*given, "--baseline", "1", "--after", "2022-01-01"])


def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write to"):
        get(server, tmp_path / "file")


def test_the_command_shows_the_terms(server, tmp_path, capsys):
    assert BASE == "https://ftp.ncbi.nlm.nih.gov/pubmed/updatefiles/"
    base = f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles/"
    given = ["lipid", "fetch", "--after", "2021-12-31", "--into", str(tmp_path / "x"), "--base", base]
    assert main(given) == 1
    shown = capsys.readouterr()
    assert "National Library of Medicine" in shown.out and "not accepted" in shown.err and not server.asked
    assert main([*given, "--yes"]) == 0
    assert f"2 files in {tmp_path / 'x'}" in capsys.readouterr().out
    assert main(["lipid", "fetch", "--after", "", "--into", str(tmp_path / "y"), "--yes"]) == 1
    assert "after takes a day as YYYY-MM-DD, not ''" in capsys.readouterr().err
