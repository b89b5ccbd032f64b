"""What the tables of reused templates say, in words (paper 001, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from probekit.report.parts import Finding, agreements, overall, title

from probekit.report.published import cell
from probekit.report.text import escape, interval

PUBLISHED = {  # relation of Google-RE: row of the transcribed numbers of section 5.2
    "date_of_birth": "template (born [MASK]), mean over models",
    "place_of_birth": "template was born in [MASK], mean over models",
    "place_of_death": "template died in [MASK], mean over models",
}


def beside_published(means: pd.DataFrame) -> pd.DataFrame:
    """Acc@10 of the templates of Google-RE as the paper prints it, beside ours; empty without Google-RE."""
    if means.empty:
        return means
    ours = means[(means["probe"] == "google_re/template") & means["relation"].isin(list(PUBLISHED))]
    if ours.empty:
        return ours
    printed = [cell("001", "text", PUBLISHED[relation], "Acc@10", "5.2") for relation in ours["relation"]]
    return ours[["relation", "wording", "facts", "acc@10", "low@10", "high@10"]].assign(published=printed)


def closing(row: Mapping[str, object]) -> str:
    """One sentence: how much of the gap between the first template and natural sentences a better wording closes.

    Args:
        row: of the table ``choice``.
    """

    def told(name: str) -> str:
        estimate, low, high = (float(str(row[f"{name}{end}"])) for end in ("", "_low", "_high"))
        return interval(estimate, low, high)

    start = (
        f"On {title(str(row['dataset']))} ({escape(row['model'])}), Acc@{row['k']} is {told('first')} by the first "
        f"wording, {told('best')} by the wording of each relation that does best on other facts, and {told('natural')} "
        "in natural sentences"
    )
    if float(str(row["closed"])) != float(str(row["closed"])):
        return f"{start}; natural sentences are not above the first wording, so there is no gap to close."
    return f"{start}; the better wording closes {told('closed')} of the gap."


def findings(real: Mapping[str, pd.DataFrame] | None, demo: Mapping[str, pd.DataFrame] | None) -> list[Finding]:
    """The findings of section 5.2 beside the tables of real data and those of the demo world.

    Args:
        real: tables of ``templates.tables``; None where nothing was recorded.
        demo: likewise; None where the demo world was not asked.
    """

    def told(tables: Mapping[str, pd.DataFrame] | None, name: str, absent: str) -> str:
        return absent if tables is None else agreements(overall(tables[name], 10))

    rows = [
        ("001-09a to c", "Acc@10 is higher by the template of dates than by those of places (Google-RE)", "google_re"),
        (
            "001-09a to c",
            "Models struggle with some templates more than with others (same facts, best less worst)",
            "spread",
        ),
        ("5.2, 5.3", "Fragments may score lower than full sentences (same facts)", "forms"),
    ]
    return [
        Finding(claims, finding, told(real, name, "not recorded"), told(demo, name, "not asked"))
        for claims, finding, name in rows
    ]
