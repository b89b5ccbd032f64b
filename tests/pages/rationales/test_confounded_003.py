"""What random scores bear out as well is confounded in the ledger, and what is said of rationales that ours are not."""

import pandas as pd

from probekit.probes.rationales import own_items
from probekit.report.claims import Judged, load_claims
from probekit.report.recording import recorded_tables
from probekit.report.tables import pick

from notebooks.rationales import changed, perturbations, rationale_length
from notebooks.rationales.ask import ATTENTION, GRADIENTS, RANDOM, RANDOM_WEIGHTS, TRAINED, Saliency
from notebooks.rationales.measures import dimension_ratios, plausibility, rationale_statistics
from notebooks.rationales.paper import ABOVE, AS_IT_STANDS, LONG
from notebooks.rationales.saliency import CLAIMS, PCC

SHORT_RATIONALES = {"003-12d"}  # its sentence is on rationales of about half of the words


def doubt(name: str) -> str:
    """What the ledger says against any verdict on a claim by other models: why it is confounded, or not run."""
    (source,) = [claim.beyond for claim in load_claims() if claim.id == name]
    return source.confounded if isinstance(source, Judged) else source.reason


def test_what_random_scores_bear_out_is_confounded() -> None:
    items = own_items("en")
    scores = [Saliency("own/en", "any", ATTENTION, TRAINED, None), Saliency("own/en", "", RANDOM, "", None)]
    lengths = rationale_length.directions([(one, rationale_length.values(items, None)) for one in scores])
    changes = changed.directions(pd.DataFrame(), perturbations.reasoned({"own/en": items}, scores))
    found = pd.concat([lengths, changes])
    found = found[found["measured"] == AS_IT_STANDS]
    holds = {claim for claim, rows in found.groupby("claim") if (rows["estimate"] > 0).all()}
    sources = {claim.id: claim.beyond for claim in load_claims() if claim.id in set(found["claim"])}
    judged = {name: source for name, source in sources.items() if isinstance(source, Judged)}
    assert set(sources) - set(judged) == {"003-15c"}  # five dimensions are too few for most of them
    above = {name for name, source in judged.items() if source.where.get("measured") == ABOVE}
    assert (
        above == {"003-12b", "003-12e", "003-14a", "003-14b"} <= holds
    )  # judged by what random scores do not bear out
    judged = {name: source for name, source in judged.items() if name not in above}
    confounded = {name for name, source in judged.items() if source.confounded}
    assert confounded == holds & set(judged) | SHORT_RATIONALES and not holds & SHORT_RATIONALES


def test_our_rationales_are_shorter_than_the_papers() -> None:
    ratios = rationale_statistics(own_items("en")).set_index("dimension")["ratio"]
    assert ratios[list(LONG)].max() <= 1 / 3


def test_what_random_weights_bear_out_is_confounded() -> None:
    table = pick(recorded_tables("31_saliency")["interpretability"], dataset="own/en", dimension="all")
    for metric, claim in {**CLAIMS, PCC: "003-08d"}.items():
        rows = pick(table, metric=metric, weights=RANDOM_WEIGHTS).groupby("method")["estimate"].mean()
        assert ("on random weights" in doubt(claim)) == (rows[ATTENTION] > rows[GRADIENTS])


def test_f1_of_random_scores_goes_with_the_length_ratio() -> None:
    items = own_items("zh")
    f1 = plausibility(items, None).groupby("dimension")["f1"].mean()
    ratios = pd.Series({dimension: ratio for (_, dimension), ratio in dimension_ratios(items).items()})
    assert f1.corr(ratios) > 0.99
    assert "F1 of random scores goes with that ratio as well" in doubt("003-12g")
