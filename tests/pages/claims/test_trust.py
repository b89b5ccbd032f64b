"""Rules in use that page 92 does not mark decide wrongly in no more than one simulated study of twenty, whatever the
null; those given up do, and what is called detectable is what units that are drawn anew show."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from probekit.metrics import bootstrap_ci, interval
from probekit.metrics.decisions import LEVEL, Rule, detectable
from probekit.report.outcomes import read_outcomes
from probekit.report.recording import recorded_ranks, recorded_tables
from probekit.report.tables import pick
from probekit.report.text import SEED
from probekit.report.verdicts import concluded

from notebooks.claims import simulated, trust
from notebooks.templates.draws import hits_by_style

DRAWS = 60
MOST = stats.binom.ppf(0.9995, DRAWS, LEVEL)  # decisions that an honest rule stays below
RECORDED = recorded_tables("92_trust")["rules"]
ERRING = set(trust.erring(RECORDED)["rule"])
NOT_ADDED = (simulated.halves, simulated.swaps, simulated.over_models, simulated.over_dimensions, simulated.floor)


@pytest.fixture
def few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "SAMPLES", 300)


@pytest.mark.slow
@pytest.mark.usefixtures("few_samples")
@pytest.mark.parametrize(
    "rule", [rule for rule in trust.RULES if rule.used and rule.name not in ERRING], ids=lambda rule: rule.name
)
def test_a_rule_in_use_keeps_to_its_bound(rule: trust.Rule) -> None:
    for study in (rule.nulls or trust.nothing(rule.draw)).values():
        assert trust.tried(rule, study, DRAWS).sum() * DRAWS <= MOST


@pytest.mark.usefixtures("few_samples")
@pytest.mark.parametrize("name", ["One model, facts drawn", "Both of 2 differences", "All of 4 models"])
def test_rules_see_what_is_far_from_zero_and_on_its_side(name: str) -> None:
    rule = next(rule for rule in trust.RULES if rule.name == name)
    far = trust.tried(rule, partial(rule.draw, effect=0.3), 10)
    assert far["agrees"] == 1 and far["contradicts"] == 0


@pytest.mark.parametrize("rule", [rule for rule in trust.RULES if not rule.used], ids=lambda rule: rule.name)
def test_a_rule_given_up_does_not(rule: trust.Rule) -> None:
    assert RECORDED.set_index("rule").loc[rule.name, "low"] > LEVEL


def test_the_recorded_rules_are_those_tried() -> None:
    used = RECORDED.query("used")
    assert list(used["rule"]) == [rule.name for rule in trust.RULES if rule.used]
    assert used[~used["rule"].isin(ERRING)]["wrong"].mean() <= LEVEL
    assert (used["low"] <= used["wrong"]).all() and (used["agrees"] <= used["wrong"]).all()


@pytest.mark.slow
@pytest.mark.usefixtures("few_samples")
def test_simulated_studies_have_the_effect_they_should() -> None:
    generator = np.random.default_rng(1)
    given_up = (simulated.signs, simulated.smallest, simulated.four_sets)
    for rule in trust.RULES:
        if rule.draw not in (*NOT_ADDED, simulated.smaller, simulated.printed_family, *given_up):
            size = trust.effects()[rule.effect]
            means = [rule.draw(generator, size)["estimate"].mean() for _ in range(40)]
            assert np.mean(means) == pytest.approx(size, abs=max(0.02, 3 * np.std(means) / np.sqrt(40))), rule.name


def test_half_samples_have_the_effect_they_should() -> None:
    generator = np.random.default_rng(1)
    means = [simulated.halves(generator, 0.1)["estimate"].item() for _ in range(20)]
    assert np.mean(means) == pytest.approx(0.1, abs=0.02)


@pytest.mark.usefixtures("few_samples")
def test_models_alike_go_together() -> None:
    """The correlation of what two of them hit by chance, over facts."""
    estimates = [simulated.models(2, 0.9)(np.random.default_rng(seed), 0.0)["estimate"] for seed in range(60)]
    assert np.corrcoef(np.transpose(estimates))[0, 1] > 0.75
    estimates = [simulated.models(2)(np.random.default_rng(seed), 0.0)["estimate"] for seed in range(60)]
    assert abs(np.corrcoef(np.transpose(estimates))[0, 1]) < 0.4


def test_the_gate_lets_a_better_model_pass_and_not_one_of_chance() -> None:
    verdicts = [simulated.floor(np.random.default_rng(seed), effect)["verdict"].item() for effect in (0, 0.2)
                for seed in range(5)]  # fmt: skip
    assert verdicts.count("agrees") == 5 and verdicts[5:] == ["agrees"] * 5


def test_exact_rows_are_decided_by_the_whole_family() -> None:
    generator = np.random.default_rng(0)
    far = simulated.printed_family(generator, 2.0)
    one = simulated.printed_family(generator, np.array([-2.0, 2.0, 2.0]))
    assert far["verdict"].item() == "agrees" and one["verdict"].item() == "contradicts"


@pytest.mark.parametrize("count", [5, 6, 20, 21])
def test_a_coin_by_formula_is_that_tossed(count: int) -> None:
    tosses = np.random.default_rng(0).choice([-1.0, 1.0], (400, count))
    rows = pd.DataFrame({"study": np.repeat(np.arange(400), count), "estimate": tosses.ravel()})
    rows = rows.assign(low=rows["estimate"] - 0.5, high=rows["estimate"] + 0.5, claim="")
    decided = trust.signs_of(concluded(rows), "most").isin(["agrees", "contradicts"]).mean()
    assert decided == pytest.approx(trust.of_a_coin(count), abs=0.04) and (count > 5) == (trust.of_a_coin(count) > 0)


def test_documents_that_are_drawn_anew_are_those_that_page_21_recorded() -> None:
    rows = recorded_tables("21_rank_change")["directions"]
    row = pick(rows, claim="002-03a", model=simulated.CONTROL, source="trex")
    values = simulated.recorded_documents()
    assert values.mean() == pytest.approx(row["estimate"].item()) and len(values) == row["n"].item()


def test_a_coin_decides_what_most_do_in_one_study_of_twenty_at_most() -> None:
    assert max(trust.of_a_coin(count) for count in range(1, 60)) <= LEVEL


def test_effects_are_those_printed() -> None:
    sizes = trust.effects()
    assert sizes[trust.HITS] == pytest.approx(0.21 - 0.11) and sizes[trust.RANKS] == pytest.approx(0.205 - 0.060)
    attention, gradients = (0.91, 0.84, 0.73, 0.87, 0.90), (0.73, 0.67, 0.51, 0.64, 0.79)
    assert sizes[trust.METHODS] == pytest.approx(np.mean(attention) - np.mean(gradients))


def recorded_gains(dataset: str) -> pd.DataFrame:
    """Of each fact that page 12 asked in both ways, and each model, natural less template hits: facts x models."""
    path = recorded_ranks("12_accuracy")
    assert path is not None
    ranks = read_outcomes(path)
    rows = ranks[ranks["probe"].str.startswith(f"{dataset}/")]
    hits = {model: hits_by_style(group) for model, group in rows.groupby("model")}
    return pd.DataFrame({model: pair.iloc[:, 0] - pair.iloc[:, 1] for model, pair in hits.items()}).dropna()


def redrawn(gains: np.ndarray, draws: int = 400, samples: int = 400) -> pd.DataFrame:
    """Estimates and intervals of studies whose facts are the recorded ones, centred and drawn anew, by ``study``.

    Facts that all models hit alike count together, so that both draws are of counts.
    """
    generator = np.random.default_rng(0)
    patterns, counts = np.unique(gains - gains.mean(0), axis=0, return_counts=True)
    n = int(counts.sum())
    studies = []
    for drawn in generator.multinomial(n, counts / n, draws):
        means = generator.multinomial(n, drawn / n, samples) @ patterns / n
        ends = [interval(column, n)[:2] for column in means.T]
        studies.append(pd.DataFrame(np.column_stack([drawn @ patterns / n, ends]), columns=simulated.ENDS))
    return pd.concat(studies, keys=range(draws), names=["study", None]).reset_index("study")


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "models", "rule"), [("trex", 1, "direction"), ("google_re", 1, "direction"),
                                                   ("trex", 5, "all"), ("google_re", 5, "all")])  # fmt: skip
def test_detectable_is_decided_by_the_whole_rule_on_redrawn_facts(dataset: str, models: int, rule: Rule) -> None:
    """In four of five studies with the recorded differences, centred and shifted by it, and in fewer by less."""
    gains = recorded_gains(dataset)  # of several seeds of one training the first: they are one case
    names = pd.Series(gains.columns)
    gains = gains[names[~names.str.replace(SEED, "", regex=True).duplicated()]].to_numpy(dtype=float)[:, :models]
    ends = pd.DataFrame([bootstrap_ci(column)[:3] for column in gains.T], columns=simulated.ENDS)
    least, rows = detectable(concluded(ends.assign(claim="")), rule), redrawn(gains)

    def decided(shift: float) -> float:
        shifted = concluded(rows.assign(**{end: rows[end] + shift for end in simulated.ENDS}, claim=""))
        return float(trust.signs_of(shifted, rule).isin(["agrees", "contradicts"]).mean())

    assert decided(least) == pytest.approx(0.8, abs=0.1) and decided(0.8 * least) < 0.75


@pytest.mark.slow
def test_detectable_is_decided_on_redrawn_documents() -> None:
    least = concluded(simulated._row(simulated.recorded_documents(), None).assign(claim=""))["detectable"].item()
    rule = next(rule for rule in trust.RULES if rule.draw is simulated.documents)
    for shift in (least, -least):
        assert trust.tried(rule, partial(simulated.copied, effect=shift), 200).sum() == pytest.approx(0.8, abs=0.1)
