"""All tables of the book and the manifests of its pages in one file, the same bytes for the same tables; and of files
that pages offer, those of equal name and content once."""

from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sphinx import addnodes

NAME = "all_tables"
DAY = (1980, 1, 1, 0, 0, 0)  # no file of it has a day


def write(app, exception):
    if exception or app.builder.format != "html":
        return
    studies = Path(app.srcdir) / "book" / "studies"
    found = [path for path in studies.rglob("*") if path.suffix == ".csv" or path.name == "manifest.json"]
    with ZipFile(Path(app.outdir) / "book" / f"{NAME}.zip", "w", ZIP_DEFLATED) as archive:
        for path in sorted(found):
            entry = ZipInfo(f"{NAME}/{path.relative_to(studies).as_posix()}", DAY)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), ZIP_DEFLATED)


def share(app, env):
    """Let files of equal name and content have one place in the site."""
    places = {}
    for source, (pages, place) in env.dlfiles.items():
        path = Path(env.srcdir, source)
        shared = places.setdefault((path.name, sha256(path.read_bytes()).digest()), place)
        env.dlfiles[source] = (pages, shared)


def lead(app, doctree, docname):
    """Lead every link to its file's place."""
    for link in doctree.findall(addnodes.download_reference):
        if "filename" in link:
            source, _ = app.env.relfn2path(link["reftarget"], docname)
            link["filename"] = app.env.dlfiles[source][1]


def setup(app):
    app.connect("env-updated", share)
    app.connect("doctree-resolved", lead)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
