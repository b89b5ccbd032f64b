"""What the pages of study 1 say: every function here returns English, or rows that a sentence speaks of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from probekit.metrics.bootstrap import effective_units
from probekit.report.tables import pick
from probekit.report.tested import HERE
from probekit.report.text import number

from notebooks.templates.paper import (
    ACCURACY,
    ALIKE,
    BOTH,
    BYTES,
    CANDIDATES,
    DOMAIN,
    FACTS,
    ONLY,
    SETS,
    SQUAD,
    UNSURE,
    WORDPIECE,
    column_pairs,
    lineages,
    mean_tau,
    table5,
    table6,
)

Tables = Mapping[str, pd.DataFrame]

# ---- page 09 -------------------------------------------------------------------------------------------------------


def own_tables_answer(tables: Tables) -> str:
    """What ranks the models, in three mean taus, and in two of models whose perplexities can be compared."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    places, known = np.flatnonzero(table5().index.isin(WORDPIECE)), column_pairs()
    alike = {kind: mean_tau(pick(known, kind=kind, measure=UNSURE))(places) for kind in (FACTS, DOMAIN)}
    p = pick(tables["tests"], statement=f"{HERE}rankings change with the domain")["p"].iloc[0]
    return (
        f"By perplexity, the paper's own tables rank the {len(table6())} models less alike in two domains than in one "
        f"(within a style, p {number(p)}, looked for after reading them): two styles of the same facts agree with "
        f"Kendall's tau of {number(tau[FACTS, UNSURE], 2)}, two domains with {number(tau[DOMAIN, UNSURE], 2)} in the "
        f"same style and {number(tau[BOTH, UNSURE], 2)} in different styles. Among the {len(places)} models with "
        f"BERT's pieces of words, whose perplexities can be compared, it is {number(alike[FACTS], 2)} and "
        f"{number(alike[DOMAIN], 2)}."
    )


def own_tables_apart(tables: Tables) -> str:
    """Whether all models of biomedical text alone stand above all others on the biomedical data sets, by Acc@1."""
    table, parts = tables["categories"].set_index("model"), []
    three = table["category"] == ONLY
    for name in SETS[:2]:
        between = table.index[~three & (table[name] >= table.loc[three, name].min())]
        parts.append(f"{' and '.join(map(str, between)) or 'none'} on {name}")
    return f"Other models that reach the weakest of the three in Acc@1 are {', '.join(parts)}."


def own_tables_accuracy(tables: Tables) -> str:
    """What the accuracies of Table 6 say of the same, and what they cannot."""
    tau = tables["kinds"].set_index(["kind", "measure"])["tau"]
    return (
        f"By accuracy the two biomedical data sets rank the models with a tau of {number(tau[ALIKE, ACCURACY], 2)}, "
        f"and each of them and SQuAD with {number(tau[BOTH, ACCURACY], 2)} on average. But SQuAD is of another domain "
        "and of another style, so Table 6 cannot tell one from the other. And the same questions with more "
        f"candidates reach no more than {number(tau[CANDIDATES, ACCURACY], 2)} themselves."
    )


def own_tables_lost(tables: Tables) -> str:
    """Which models fail on SQuAD with more candidates."""
    share = tables["kept"].set_index("model")[SQUAD]
    four, others = share[[*BYTES]], share.drop([*BYTES])
    return (
        f"With the enlarged list of SQuAD, the four models of RoBERTa's kind keep {_percent(four.min())} to "
        f"{_percent(four.max())} of their Acc@1, the twelve others {_percent(others.min())} to "
        f"{_percent(others.max())}. These four alone have a vocabulary of bytes, in which a word after a blank is "
        "another token than the word alone: a list of entities tokenised otherwise than the text would do this. The "
        "paper counts it as an effect of more candidates."
    )


def own_tables_lineages() -> str:
    """How many lineages of one size the models' lineages count for."""
    of = lineages()
    return (
        f"The {len(of)} models are of {len(set(of))} lineages, of which the largest holds {max(map(of.count, of))}. "
        f"They tell as much as {effective_units(of):.1f} of one size, too few for an interval that draws lineages; "
        "intervals over models are too short as far as models of one lineage are alike."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
