"""Two people's sheets, and names that mostly mean something else, by hand."""

import csv
from pathlib import Path

import pytest

from probekit.cli import main
from probekit.errors import ProbeError
from probekit.probes.lipid import agreement
from probekit.probes.lipid.entities import homonyms
from probekit.probes.lipid.sheet import FIELDS, QUESTIONS


def filled(path: Path, answers: list[tuple[str, str]], first: int = 0) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for i, (factual, meant) in enumerate(answers, start=first):
            writer.writerow([i, "gene" if i % 2 else "chemical", "x", "A sentence.", factual, meant, ""])
    return path


def test_agreement_is_percent_and_cohens_kappa(tmp_path):
    one = filled(tmp_path / "a.csv", [("yes", "")] * 20 + [("no", "")] * 10 + [("yes", "")] * 5 + [("no", "")] * 15)
    two = filled(tmp_path / "b.csv", [("YES ", "")] * 20 + [("yes", "")] * 10 + [("no", "")] * 20)
    row = agreement(one, two)[0]
    assert (row["question"], row["list"], row["judged"], row["same"]) == ("factual", "", 50, 35)
    assert row["percent"] == 70 and row["kappa"] == pytest.approx(0.4)  # chance: 0.5 x 0.6 + 0.5 x 0.4
    assert {r["list"] for r in agreement(one, two)} == {"", "chemical", "gene"}  # nobody answered the second question


def test_what_only_one_judged_is_left_out_and_one_word_has_no_kappa(tmp_path):
    one = filled(tmp_path / "a.csv", [("yes", "yes"), ("yes", "no"), ("", "no")])
    two = filled(tmp_path / "b.csv", [("yes", "yes"), ("yes", ""), ("no", "no")])
    rows = {row["question"]: row for row in agreement(one, two) if not row["list"]}
    assert rows["factual"]["judged"] == 2 and rows["factual"]["kappa"] is None
    assert rows["means the listed entity"]["kappa"] == 1.0


def test_sheets_that_cannot_be_compared_are_named(tmp_path, capsys):
    one = filled(tmp_path / "a.csv", [("yes", "")])
    for answer, first, said in (
        ("yes", 7, "other prompts"),
        ("perhaps", 0, "yes or no, not 'perhaps'"),
        ("", 0, "no prompt has a judgement in both"),
    ):
        with pytest.raises(ProbeError, match=said):
            agreement(one, filled(tmp_path / "b.csv", [(answer, "")], first))
    (tmp_path / "c.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(ProbeError, match="is not a sheet"):
        agreement(one, tmp_path / "c.csv")
    assert main(["lipid", "agree", str(one), str(filled(tmp_path / "d.csv", [("yes", "")]))]) == 0
    assert capsys.readouterr().out.startswith(f"{QUESTIONS[0].partition(' (')[0]}, all: 1 of 1 alike (100.0%)")


def test_a_name_is_a_homonym_where_its_annotators_mostly_left_it_untagged(tmp_path):
    tokens = (
        [("lead", "O")] * 3 + [("lead", "B-C")] * 2 + [("Lead", "B-C"), ("zinc", "B-C"), ("zinc", "O"), ("may", "O")]
    )
    (tmp_path / "x.tsv").write_text("\n".join(f"{token}\t{tag}" for token, tag in tokens) + "\n\n", "utf-8")
    assert homonyms([tmp_path / "x.tsv"]) == {"lead"}  # an even count decides nothing; another spelling is another name
