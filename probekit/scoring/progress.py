"""A progress bar over forward rows that knows what was found finished."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from probekit.elsewhere import under_way
from probekit.files.progress import bar


class Progress:
    """Rows per second and what remains, shown for work over two seconds.

    Args:
        title: what runs.
        sizes: forward rows of each shard.
        tokens: of all rows; None where unknown.
    """

    def __init__(self, title: str, sizes: Sequence[int], tokens: int | None = None) -> None:
        self.title, self.sizes = title, sizes
        self.bar: Any = None
        under_way.set((title, sizes, tokens))

    def reach(self, shard: int) -> None:
        """Shards before this one are done; those not computed here count as found, not as speed."""
        before = sum(self.sizes[:shard])
        if self.bar is None:
            self.bar = bar(self.title, sum(self.sizes), " rows", before)
        elif not self.bar.disable and before > self.bar.n:
            self.bar.initial += before - self.bar.n
            self.bar.update(before - self.bar.n)

    def add(self, rows: int) -> None:
        """So many more rows are done."""
        self.bar.update(rows)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()
