"""Formulas without scripts: TeX as MathML in which every text is text."""

from __future__ import annotations

import html
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element

ACTING = ("class", "href", "style")  # attributes for which TeX has commands


def mathml(tex: str, display: str = "inline") -> str:
    """A formula as a ``math`` element of HTML.

    The converter's own function writes what is between ``\\text{`` and ``}`` as HTML.

    Args:
        tex: the formula, without dollar signs.
        display: ``inline`` or ``block``.
    """
    tree = convert_to_element(tex, display=display)
    for element in tree.iter():
        element.text = html.unescape(element.text or "")  # it names signs by their entities
        for name in ACTING:
            element.attrib.pop(name, None)
    return tostring(tree, encoding="unicode")
