"""What MyST may use on pages that show what models and files wrote: these directives, options and roles, no others."""

from __future__ import annotations

from typing import Any

from sphinx.util.docutils import CustomReSTDispatcher

DIRECTIVES = {  # name -> its options
    "admonition": {"class"},
    "csv-table": {"class", "header-rows", "widths"},
    "dropdown": {"class"},
    "figure": {"alt", "class"},
    "grid": {"gutter"},
    "grid-item-card": {"class"},
    "image": {"alt", "class"},
}
ROLES = {"cite:p", "cite:t", "class", "doc", "download", "func", "mod", "ref", "term"}


class Permitted(CustomReSTDispatcher):
    """While it is entered, no directive, option or role but these is known."""

    def directive(self, name: str, language: Any, document: Any) -> tuple[Any, list[Any]]:
        if name not in DIRECTIVES:
            return None, []
        parent, messages = super().directive(name, language, document)
        options = {key: value for key, value in parent.option_spec.items() if key in DIRECTIVES[name]}
        return type(parent.__name__, (parent,), {"option_spec": options}), messages

    def role(self, name: str, language: Any, line: int, reporter: Any) -> tuple[Any, list[Any]]:
        return super().role(name, language, line, reporter) if name in ROLES else (None, [])
