"""The reference without Python's own words for a field of a named tuple, which say its number alone."""


def drop(app, what, name, obj, options, lines):
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app):
    app.connect("autodoc-process-docstring", drop)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
