"""The finished site without what none of its pages needs: of the theme's style sheets the rules for classes that no
page and no script has, of its icons those that no rule draws, and the script that would draw them a second time."""

import re
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

SHEETS = ("styles/pydata-sphinx-theme.css", "sphinx-design.min.css")
RULE = re.compile(r"((?:[^{}]*(?:\*/|;))?)([^{}]+)(\{[^{}]*\})")  # what stands before it, its selectors, its body
INNER = r"[^()]*(?:\([^()]*\)[^()]*)*\)"  # what stands in brackets, up to their end
BETWEEN = re.compile(f",(?!{INNER})")  # two selectors
ASIDE = re.compile(rf"\({INNER}|\[[^]]*\]")  # what a selector asks for besides classes, such as :not(.name)
CLASS = re.compile(r"\.([A-Za-z_][\w-]*)")
SIGN = re.compile(r'"\\([0-9a-f]{4})"|([\ue000-\uf8ff])')  # an icon, by its number or as it is
FACE = re.compile(r"@font-face\{[^}]*Font Awesome[^}]*\}")
FONTS, SOLID, KEPT = "vendor/fontawesome/webfonts", "fa-solid-900", "icons.woff"


def named(site):
    """All that may be a class: in pages what is one, in scripts every word."""
    classes = [
        words for page in site.rglob("*.html") for words in re.findall(r'class="([^"]*)"', page.read_text("utf-8"))
    ]
    scripts = [path for path in (site / "_static").rglob("*.js") if "tables" not in path.parts]
    return {word for text in classes for word in text.split()}.union(
        *(re.findall(r"[\w-]+", path.read_text("utf-8")) for path in scripts)
    )


def needed(sheet, classes):
    """A style sheet without the selectors that ask for a class which is not among these."""

    def rule(found):
        before, selectors, body = found.groups()
        kept = [one for one in BETWEEN.split(selectors) if classes.issuperset(CLASS.findall(ASIDE.sub("", one)))]
        return before + (",".join(kept) + body if kept else "")

    return RULE.sub(rule, sheet)


def lighten(site):
    """Trim the files of a finished site in place; the same site gives the same bytes."""
    static = site / "_static"
    (static / "scripts" / "fontawesome.js").unlink()
    classes = named(site)
    for name in SHEETS:
        sheet = needed((static / name).read_text("utf-8"), classes)
        sheet = FACE.sub(lambda found: own(found[0]) if SOLID in found[0] else "", sheet)
        (static / name).write_text(sheet, "utf-8")
    signs = [sign for path in static.rglob("*.css") for sign in SIGN.findall(path.read_text("utf-8"))]
    icons = TTFont(static / FONTS / f"{SOLID}.ttf", recalcTimestamp=False)
    subsetter = subset.Subsetter()
    subsetter.populate(unicodes=[int(number, 16) if number else ord(sign) for number, sign in signs])
    subsetter.subset(icons)
    icons.flavor = "woff"
    for path in (static / FONTS).iterdir():
        path.unlink()
    icons.save(static / FONTS / KEPT)


def own(face):
    """The rule for a font, with our file as its only source."""
    return re.sub(r"src:[^}]*", f'src:url(../{FONTS}/{KEPT}) format("woff")', face)


def finish(app, exception):
    if not exception and app.builder.format == "html":
        lighten(Path(app.outdir))


def setup(app):
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
