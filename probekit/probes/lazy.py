"""What is imported when it is used: how a lower part of the package offers what a higher part has."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any


@dataclass(frozen=True)
class Lazy:
    """A function by its reference; it is imported at its first call, or when its signature is asked for."""

    reference: str

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return resolve_name(self.reference)(*positional, **named)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(resolve_name(self.reference))


def chosen(home: str) -> Lazy:
    """What a table offers by name: of ``"module:name"`` inside the package; a page's hash follows only what it names.

    A whole reference in a module is followed wherever the module is, see ``probekit.report.fingerprint``.
    """
    return Lazy(f"probekit.{home}")
