"""No rule in use decides on nothing in more than one simulated study of twenty; those given up do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probekit.metrics.decisions import LEVEL
from probekit.report.recording import recorded_tables

from notebooks.claims import trust

DRAWS = 60
MOST = stats.binom.ppf(0.9995, DRAWS, LEVEL)  # decisions that an honest rule stays below


@pytest.mark.parametrize("rule", [rule for rule in trust.RULES if rule.used], ids=lambda rule: rule.name)
def test_a_rule_in_use_keeps_to_its_bound(rule: trust.Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "SAMPLES", 400)
    assert trust.tried(rule, 0.0, DRAWS).sum() * DRAWS <= MOST


@pytest.mark.parametrize("rule", [rule for rule in trust.RULES if not rule.used], ids=lambda rule: rule.name)
def test_a_rule_given_up_does_not(rule: trust.Rule) -> None:
    table = recorded_tables("92_trust")["rules"].set_index("rule")
    assert table.loc[rule.name, "low"] > LEVEL


def test_the_recorded_shares_are_within_the_bound() -> None:
    """By their exact intervals, since shares of simulated studies vary."""
    used = recorded_tables("92_trust")["rules"].query("used")
    assert (used["low"] <= LEVEL).all() and used["wrong"].mean() <= LEVEL
    assert list(used["rule"]) == [rule.name for rule in trust.RULES if rule.used]


@pytest.mark.slow
def test_simulated_studies_have_the_effect_they_should() -> None:
    generator = np.random.default_rng(1)
    for rule in trust.RULES:
        if rule.draw not in (trust.signs, trust.smallest, trust.swaps, trust.four_sets):
            size = trust.effects()[rule.effect]
            found = [rule.draw(generator, size)["estimate"].mean() for _ in range(40)]
            assert np.mean(found) == pytest.approx(size, abs=max(0.02, 3 * np.std(found) / np.sqrt(40))), rule.name


def test_effects_are_those_printed() -> None:
    sizes = trust.effects()
    assert sizes[trust.HITS] == pytest.approx(0.21 - 0.11) and sizes[trust.RANKS] == pytest.approx(0.205 - 0.060)
    attention, gradients = (0.91, 0.84, 0.73, 0.87, 0.90), (0.73, 0.67, 0.51, 0.64, 0.79)
    assert sizes[trust.METHODS] == pytest.approx(np.mean(attention) - np.mean(gradients))
