"""Under each chart of an executed page: the same as PNG for slides, as SVG, and its data.

The SVG is the one that the page shows; the PNG is drawn of it at the end of the build, in the font that comes with
matplotlib, so that it is the same on every machine. The data are the table of the figure's name, or else the page's.
"""

from concurrent.futures import ThreadPoolExecutor
from html import escape
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import matplotlib
import resvg_py
from docutils import nodes
from PIL import Image
from plots import attribute
from sphinx.util.osutil import relative_uri

FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
DPI, COLOURS = 200, 64
TABLES, FOLD = "all-tables", "All tables of this page"


def offer(app, doctree, docname):
    """Add the line under every chart; a page's list of tables gets an anchor."""
    if app.builder.format != "html":
        return
    here = app.builder.get_target_uri(docname)

    def link(words, target):
        place = relative_uri(here, quote(target)) if target else f"#{TABLES}"
        return f'<a href="{escape(place)}"{" download" if target else ""}>{words}</a>'

    for figure in list(doctree.findall(nodes.figure)):
        image = next(iter(figure.findall(nodes.image)), None)
        if image is None or "chart" not in image.get("classes", []) + figure.get("classes", []):
            continue
        name = app.env.images[image["uri"]][1]
        files = app.env.dlfiles.get(str(PurePosixPath(image["uri"]).with_suffix(".csv")))
        data = f"_downloads/{files[1]}" if files else ""
        png = PurePosixPath(name).with_suffix(".png")
        explored = attribute(app, docname, PurePosixPath(image["uri"]).stem)
        text = (
            f'<p class="figure-files"{explored}>Figure: {link("PNG", f"_images/{png}")}, '
            f"{link('SVG', f'_images/{name}')}; data: {link('CSV' if data else 'tables', data)}</p>"
        )
        figure.parent.insert(figure.parent.index(figure) + 1, nodes.raw("", text, format="html"))
    for title in doctree.findall(nodes.Element):
        if title.tagname == "dropdown_title" and title.astext().startswith(FOLD):
            title.parent["ids"] = [TABLES]


def draw(app, exception):
    """Write the PNG of every SVG of the book beside it; leave out what no reader opens."""
    if exception or app.builder.format != "html":
        return
    places = [Path(app.outdir) / "_images" / name for _, name in app.env.images.values() if name.endswith(".svg")]
    with ThreadPoolExecutor() as pool:
        list(pool.map(png, places))
    for unused in (path for kind in ("*.map", "*.po") for path in Path(app.outdir).rglob(kind)):
        unused.unlink()  # of the theme, for its developers


def png(place):
    drawn = resvg_py.svg_to_bytes(
        svg_path=str(place), background="white", dpi=DPI, skip_system_fonts=True, font_files=[str(FONT)]
    )
    few = Image.open(BytesIO(bytes(drawn))).convert("RGB").quantize(COLOURS)  # a third of the bytes
    few.save(place.with_suffix(".png"), optimize=True)


def setup(app):
    app.connect("doctree-resolved", offer, priority=900)  # after folds got their form
    app.connect("build-finished", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
