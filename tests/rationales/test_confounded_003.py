"""What random scores bear out as well is confounded in the ledger, and nothing else of these pages is."""

import pandas as pd

from probekit.probes.rationales import own_items
from probekit.report.claims import Judged, load_claims

from notebooks.rationales import perturbations, rationale_length
from notebooks.rationales.ask import ATTENTION, RANDOM, TRAINED, Saliency
from notebooks.rationales.paper import AS_IT_STANDS


def test_what_random_scores_bear_out_is_confounded() -> None:
    items = own_items("en")
    scores = [Saliency("own/en", "any", ATTENTION, TRAINED, None), Saliency("own/en", "", RANDOM, "", None)]
    lengths = rationale_length.directions([(one, rationale_length.values(items, None)) for one in scores])
    changes = perturbations.directions(pd.DataFrame(), perturbations.reasoned({"own/en": items}, scores))
    found = pd.concat([lengths, changes])
    found = found[found["measured"] == AS_IT_STANDS]
    holds = {claim for claim, rows in found.groupby("claim") if (rows["estimate"] > 0).all()}
    sources = {claim.id: claim.source for claim in load_claims() if claim.id in set(found["claim"])}
    assert len(sources) == 10 and all(isinstance(source, Judged) for source in sources.values())
    assert holds == {name for name, source in sources.items() if isinstance(source, Judged) and source.confounded}
