"""Fetching, against a file server on this machine: the real addresses cannot be tried in a test."""

import functools
import gzip
import hashlib
import http.server
import os
import threading
from pathlib import Path

import pytest

from probekit import cli
from probekit.errors import ProbeError
from probekit.probes import fetch as module
from probekit.probes.fetch import fetch, sources

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
        "base": "http://0.0.0.0:9/",
    }
    monkeypatch.setattr(module, "sources", lambda: {"lama": {**about, "files": listing}})
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", served
    server.shutdown()


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
    with pytest.raises(ProbeError, match="cannot fetch .*relations.jsonl.*hash"):
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


def test_pinned_sources_are_complete():
    with pytest.raises(ProbeError, match="nothing called 'nothing'"):
        fetch("nothing", yes)
    for source in sources().values():
        assert source["base"].startswith("https://") and source["licence"]
        for name, file in source["files"].items():
            assert len(file["sha256"]) == 64 and Path(name).suffix == Path(file["path"]).suffix


@pytest.mark.skipif(not os.environ.get("PROBEKIT_DATA"), reason="needs data: PROBEKIT_DATA names no folder")
@pytest.mark.parametrize("name", sources())
def test_the_pinned_hashes_are_those_of_the_files_at_hand(name):
    known = 0
    for relative, file in sources()[name]["files"].items():
        path = Path(os.environ["PROBEKIT_DATA"]) / relative
        zipped = path.with_name(f"{path.name}.gz")
        if path.is_file() or zipped.is_file():
            data = path.read_bytes() if path.is_file() else gzip.decompress(zipped.read_bytes())
            assert hashlib.sha256(data).hexdigest() == file["sha256"], relative
            known += 1
    if not known:
        pytest.skip(f"no file of {name} is at hand")
