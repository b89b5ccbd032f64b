"""Does a probe measure knowledge: its accuracy against how often a fact was told, in a world where that is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probekit.metrics import Interval, accuracy_table, auc_interval, bootstrap_ci, hits_at_k

OFTEN = 4  # told at least so many times
KEYS = ["model", "probe"]
YES, NO, UNKNOWN = "yes", "no", "not known"


def reads(model: str, domain: str) -> str:
    """Whether a model has read the text of a domain: ``yes`` or ``no`` for one of the zoo, else ``not known``."""
    if model not in ZOO:
        return UNKNOWN
    member = ZOO[model]
    return YES if member.domain == domain or (member.base and reads(member.base, domain) == YES) else NO


def calibration(ranks: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables of the calibration from the rows of ``ask.ask_all``: ``curve, slopes, separation``."""
    own = ranks
    own = own.assign(
        read=[reads(model, domain) for model, domain in zip(own["model"], own["domain"], strict=True)],
        exposure=own["exposure"].astype(int),
    )
    return {"curve": _curve(own), "slopes": _slopes(own), "separation": _separation(own)}


def _curve(own: pd.DataFrame) -> pd.DataFrame:
    """Acc@1 with its interval per model, probe and number of tellings."""
    keys = [*KEYS, "style", "domain", "read", "exposure"]
    parts = [_part(own, *pair).sort_values("exposure", kind="stable") for pair in _pairs(own)]
    return pd.concat([accuracy_table(part, keys, ks=[1]) for part in parts], ignore_index=True).drop(columns="mrr")


def _slopes(own: pd.DataFrame) -> pd.DataFrame:
    """Per model and probe, how well what a model does follows how often a fact was told.

    ``correlation`` is Spearman's between tellings and being ranked first; ``often`` and ``once`` are the AUC with which
    the rank tells facts told at least four times, or at least once, from facts never told. Where one group is
    empty, or all hits are alike, a number is missing.
    """
    rows = []
    for model, probe in _pairs(own):
        part = _part(own, model, probe)
        row: dict[str, object] = {"model": model, "probe": probe, "read": part["read"].iloc[0], "prompts": len(part)}
        hit = hits_at_k(part["rank"], 1)
        row |= {"accuracy": hit.mean()}
        if hit.any() and not hit.all() and part["exposure"].nunique() > 1:
            place = part["exposure"].rank().to_numpy()
            columns = np.stack([place, hit, place * hit, place**2], axis=1)
            found = bootstrap_ci(columns, part["fact_id"].tolist(), _pearson)
            row |= _columns("correlation", found)
        for name, least in (("often", OFTEN), ("once", 1)):
            kept = part[(part["exposure"] >= least) | (part["exposure"] == 0)]
            told = (kept["exposure"] > 0).to_numpy()
            if told.any() and not told.all():
                found = auc_interval(-kept["rank"], told, kept["fact_id"].tolist())
                row |= _columns(name, found)
        rows.append(row)
    return pd.DataFrame(rows)


def _pearson(means: np.ndarray) -> float:
    """Correlation of a variable with one of zeros and ones, from the means of x, y, xy and xx."""
    x, y, xy, xx = means
    spread = (xx - x**2) * (y - y**2)
    return float((xy - x * y) / np.sqrt(spread)) if spread > 0 else float("nan")


def _separation(own: pd.DataFrame) -> pd.DataFrame:
    """Per domain, the AUC of rank and of score in both settings, and their difference, on the same facts.

    Means over the models that have read the domain's text, and over those that have not, which are a control. Of a fact
    asked several times in a setting, the first prompt counts.
    """
    rows = []
    for (domain, read), group in own.groupby(["domain", "read"], sort=False):
        for by, sign in (("rank", -1), ("score", 1)):
            natural, template = (_wide(group[group["style"] == style], by, sign) for style in ("natural", "template"))
            facts = natural.index.intersection(template.index)
            told = group.drop_duplicates("fact_id").set_index("fact_id")["exposure"].loc[facts]
            for least in (OFTEN, 1):
                kept = told[(told >= least) | (told == 0)]
                member = (kept > 0).to_numpy()
                if member.any() and not member.all():
                    first, second = natural.loc[kept.index].to_numpy(), template.loc[kept.index].to_numpy()
                    row = {"domain": domain, "read": read, "models": first.shape[1], "by": by}
                    row |= {"told": f"{least} or more", "facts": len(kept)}
                    row |= _columns("natural", auc_interval(first, member))
                    row |= _columns("template", auc_interval(second, member))
                    rows.append(row | _columns("difference", auc_interval(first, member, less=second)))
    return pd.DataFrame(rows)


def _wide(part: pd.DataFrame, value: str, sign: int) -> pd.DataFrame:
    """Facts by models; high values where the model is surer of the answer."""
    once = part.drop_duplicates(["model", "fact_id"])
    return sign * once.pivot(index="fact_id", columns="model", values=value).astype(float).dropna()


def _columns(name: str, found: Interval) -> dict[str, float]:
    return {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}


def _part(own: pd.DataFrame, model: str, probe: str) -> pd.DataFrame:
    return own[(own["model"] == model) & (own["probe"] == probe)]


def _pairs(own: pd.DataFrame) -> list[tuple[str, str]]:
    return list(own[KEYS].drop_duplicates().itertuples(index=False, name=None))
