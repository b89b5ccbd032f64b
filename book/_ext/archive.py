"""All tables of the book and the manifests of its pages in one file, the same bytes for the same tables."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

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


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
