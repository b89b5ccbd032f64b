"""One file from an address: resumed where it broke off, tried again with pauses, kept only if its hash is right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probekit.errors import ProbeError
from probekit.files.reading import STREAMED, beyond, file_digest, limit

if TYPE_CHECKING:
    from requests import Response

Kind = Literal["md5", "sha256"]

SECONDS = 60  # without an answer
TRIES = 5  # further ones, where the server cannot be reached or has no time
PAUSE = 1.0  # seconds before the second of them, doubled each time
BUSY = (429, 500, 502, 503, 504)  # what a server says that may answer later
BLOCK = 1 << 20


def download(address: str, path: Path, kind: Kind = "sha256", expected: str = "") -> str:
    """Bring a file to ``path``; one that is there and right is left alone.

    It is streamed to ``.NAME.part`` and gets its name when its hash is right. A part that was cut off is taken up where
    it ends, if the server can send a part of a file; where no hash is known, only of content that the server calls the
    same by its entity tag (``If-Range`` of RFC 9110), which is kept in ``.NAME.tag``.

    Args:
        kind: of the hash.
        expected: hexadecimal; without it any content is taken.

    Returns:
        The hash of what lies there.

    Raises:
        ProbeError: a download that fails (its part is kept) or has another hash (it is not kept).
    """
    if path.is_file() and (actual := file_digest(path, kind)) == (expected or actual):
        return actual
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    tag = path.with_name(f".{path.name}.tag")
    _stream(address, unfinished, None if expected else tag)
    tag.unlink(missing_ok=True)
    actual = file_digest(unfinished, kind)
    if expected and actual != expected:
        unfinished.unlink()
        name = {"md5": "MD5", "sha256": "SHA-256"}[kind]
        raise ProbeError(
            f"{address}: the {name} of what came is not the one expected; nothing of it is kept, run again"
        )
    unfinished.replace(path)
    return actual


def text_at(address: str) -> str:
    """A short text, such as a listing.

    Raises:
        ProbeError: it cannot be fetched.
    """
    return str(_get(address).text)


def _get(address: str, **options: Any) -> Response:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    headers = {"Accept-Encoding": "identity", **options.pop("headers", {})}
    again = Retry(TRIES, backoff_factor=PAUSE, status_forcelist=BUSY, allowed_methods=["GET"])
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=again))
    try:
        response = session.get(address, timeout=SECONDS, headers=headers, **options)
        if response.status_code != 416:
            response.raise_for_status()
    except requests.RequestException as error:
        raise _failed(address, error) from error
    return response


def _failed(address: str, error: Exception) -> ProbeError:
    reason = str(error).splitlines()[0]
    return ProbeError(f"cannot fetch {address}: {reason}; what was fetched before is kept, run again")


def _stream(address: str, unfinished: Path, tag: Path | None) -> None:
    """Download to the end of the ``unfinished`` file, from where it stops if the server can send a range."""
    from urllib3.exceptions import HTTPError

    size = unfinished.stat().st_size if unfinished.is_file() else 0
    previous = tag.read_text("utf-8") if tag is not None and tag.is_file() else ""
    headers = {"Range": f"bytes={size}-"} if size and (tag is None or previous) else {}
    if headers and previous:
        headers["If-Range"] = previous
    with _get(address, stream=True, headers=headers) as response:
        if headers and previous and response.status_code != 200 and response.headers.get("ETag") != previous:
            unfinished.unlink()  # of other content, which this server does not tell apart
            return _stream(address, unfinished, tag)
        if response.status_code == 416:  # nothing is left to send
            return
        with unfinished.open("ab" if response.status_code == 206 else "wb") as file:
            if tag is not None:  # the empty part is no part of what the tag named before
                etag = response.headers.get("ETag", "")
                tag.write_text(etag if etag.startswith('"') else "", "utf-8")  # a weak one names no bytes
            try:
                for block in response.raw.stream(BLOCK, decode_content=False):
                    file.write(block)
                    if file.tell() > limit(STREAMED):
                        raise beyond(address, "the file", STREAMED)
            except HTTPError as error:
                raise _failed(address, error) from error
