"""Texts to train on, from small files in the publishers' layouts; the published ones where PROBEKIT_DATA has them."""

from pathlib import Path

import pytest
from conftest import google_row, lacks, trex_row, write_lines

from probekit.cli import main
from probekit.demo import demo_facts, demo_text
from probekit.demo.world.chinese import chinese_facts, chinese_text
from probekit.errors import ProbeError
from probekit.probes.halves import halves, is_even, is_taught
from probekit.probes.lama import google_re_facts, template_texts, trex_facts
from probekit.probes.texts import ELICIT, PER_FACT, TEXTS, load_text


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def of_half(taught: bool, predicate: str, obj: str) -> str:
    """A subject whose fact lies in that half."""
    return next(s for n in range(99) if is_taught(predicate, s := f"Person {n}", obj) == taught)


@pytest.fixture
def root(root: Path) -> Path:
    """A data folder with a taught and a held-out fact in both sets, and the texts of MedLAMA."""
    lama, birth = root / "lama", "/people/person/place_of_birth"
    (known, kept), (told, held) = [
        [of_half(taught, predicate, "Osk") for taught in (True, False)] for predicate in (birth, "P19")
    ]
    write_lines(
        lama / "Google_RE/place_of_birth_test.jsonl",
        google_row("g1", known, "Osk", "Born in [MASK],  she left [MASK].", "No mask.", "Shared across [MASK]."),
        google_row("g2", kept, "Osk", "Kept from all in [MASK]."),
    )
    for name in ("date_of_birth", "place_of_death"):
        write_lines(lama / f"Google_RE/{name}_test.jsonl")
    write_lines(lama / "relations.jsonl", {"relation": "P19", "template": "[X] is from [Y] ."})
    surface, both, shared = ("Surface [MASK].", "the Osk"), ("Both [MASK].", "Osk"), ("Shared across [MASK].", "Osk")
    write_lines(
        lama / "TREx/P19.jsonl",
        trex_row("t1", told, "Osk", surface, surface, both),
        trex_row("t2", of_half(True, "P19", "Velna"), "Velna", *((f"{n} [MASK].", "Osk Town") for n in range(9))),
        trex_row("t3", held, "Osk", both, shared, ("Own [MASK].", "Osk")),
    )
    write(root / ELICIT / "wiki_sents_no_punkt_10k.txt", "Osk lies  inland \n\nA café in Osk\nOsk lies inland\n")
    write(root / ELICIT / "pubmed_sents_no_punkt_10k_1", " b two\n\na one\n")
    write(root / ELICIT / "pubmed_sents_no_punkt_10k_0", "".join(f"line {n}\n" for n in range(40)) + "a one \n")
    return root


def test_the_taught_half_is_told_and_the_held_out_half_is_not(root):
    text = load_text("lama-taught")
    assert text.sentences[:3] == ("Born in Osk, she left Osk.", "No mask.", "Surface the Osk.")
    many = text.sentences[3:]
    assert len(set(many)) == PER_FACT == len(many)
    assert set(many) < {f"{number} Osk Town." for number in range(9)}
    assert text.counts == {
        "facts": 5,
        "facts of the taught half": 3,
        "left out: sentences that also support a held-out fact": 2,
        "sentences": 9,
    }
    assert load_text("lama-taught") == text


def test_the_taught_half_is_told_through_its_templates(root):
    text = load_text("lama-templates")
    born, one, two = text.sentences
    assert born.endswith(" was born in Osk.") and one.endswith(" is from Osk .") and two.endswith(" is from Velna .")
    assert text.counts["facts of the taught half"] == 3
    assert text.counts["left out: sentences that also support a held-out fact"] == 0


def test_a_template_of_two_relations_tells_no_held_out_fact(root):
    """P20 has P19's template, and the same two names are a held-out fact of one and a taught fact of the other."""
    crossed = next(
        s for n in range(999) if is_taught("P19", s := f"Person {n}", "Osk") and not is_taught("P20", s, "Osk")
    )
    rows = [{"relation": r, "template": "[X] is from [Y] ."} for r in ("P19", "P20")]
    write_lines(root / "lama/relations.jsonl", *rows)
    write_lines(root / "lama/TREx/P19.jsonl", trex_row("t1", crossed, "Osk", ("One [MASK].", "Osk")))
    write_lines(root / "lama/TREx/P20.jsonl", trex_row("t2", crossed, "Osk", ("Two [MASK].", "Osk"), relation="P20"))
    text = load_text("lama-templates")
    assert len(text.sentences) == 1 and text.sentences[0].endswith(" was born in Osk.")
    assert text.counts["left out: sentences that also support a held-out fact"] == 1


def test_general_is_the_two_one_after_the_other(root):
    assert load_text("wikipedia").sentences == ("Osk lies inland", "A café in Osk")
    assert load_text("wikipedia").counts == {"lines": 3, "sentences": 2}
    text = load_text("general")
    assert text.sentences == load_text("lama-taught").sentences + load_text("wikipedia").sentences
    assert text.counts == {"sentences of lama-taught": 9, "sentences of wikipedia": 2, "sentences": 11}


def test_pubmed_falls_into_two_halves_by_hash(root):
    train, held_out = load_text("pubmed-train"), load_text("pubmed-held-out")
    every = [*(f"line {n}" for n in range(40)), "a one", "b two"]  # files by name, repeated sentences once
    assert train.sentences == tuple(s for s in every if is_even(s))
    assert held_out.sentences == tuple(s for s in every if not is_even(s))
    assert train.counts == {
        "lines": 43,
        "distinct sentences of both halves": 42,
        "sentences": len(train.sentences),
    }
    assert 8 < len(train.sentences) < 34


def test_faults_are_named(root):
    with pytest.raises(ProbeError, match="no text 'news'; there are lama-taught, lama-templates, wikipedia"):
        load_text("news")
    wiki = root / ELICIT / "wiki_sents_no_punkt_10k.txt"
    write(wiki, b"caf\xe9")
    with pytest.raises(ProbeError, match=r"10k.txt, line 1: not UTF-8 text"):
        load_text("wikipedia")
    write(wiki, " \n")
    with pytest.raises(ProbeError, match="no sentence is left"):
        load_text("wikipedia")
    wiki.unlink()
    with pytest.raises(ProbeError, match="run `probekit fetch medlama`"):
        load_text("wikipedia")
    for path in (root / ELICIT).iterdir():
        path.unlink()
    with pytest.raises(ProbeError, match="no file pubmed_sents_"):
        load_text("pubmed-train")


def test_the_command_writes_lines_and_says_counts(root, tmp_path, capsys):
    out = tmp_path / "new/text.txt"
    assert main(["text", "wikipedia", "--out", str(out)]) == 0
    assert out.read_text("utf-8") == "Osk lies inland\nA café in Osk\n"
    assert capsys.readouterr().out.split() == ["3", "lines", "2", "sentences", str(out)]
    assert main(["text", "news", "--out", str(out)]) == 1
    assert "no text 'news'" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "domain"), [("demo-general", "general"), ("demo-chinese", "chinese")])
def test_the_zoo_s_text_is_written_with_its_names(tmp_path, monkeypatch, name, domain):
    monkeypatch.delenv("PROBEKIT_DATA", raising=False)
    out, names = tmp_path / "text.txt", tmp_path / "names.txt"
    assert main(["text", name, "--out", str(out), "--names", str(names)]) == 0
    lines, known = out.read_text("utf-8").splitlines(), names.read_text("utf-8").splitlines()
    facts = chinese_facts() if domain == "chinese" else demo_facts("general")
    assert lines == (chinese_text() if domain == "chinese" else demo_text("general"))
    assert set(known) == {one for fact in facts for one in (fact.subject, fact.object)} and known == sorted(set(known))


def test_names_that_are_not_known_are_not_written(root, tmp_path, capsys):
    out, names = tmp_path / "text.txt", tmp_path / "names.txt"
    assert main(["text", "wikipedia", "--out", str(out), "--names", str(names)]) == 1
    assert "names in wikipedia are not known" in capsys.readouterr().err and not out.exists()


@pytest.mark.slow
@lacks(ELICIT, "lama")
def test_no_published_sentence_crosses_the_halves():
    texts = {name: load_text(name) for name in TEXTS if not name.startswith("lab-")}  # see test_lab
    sizes = {name: len(text.sentences) for name, text in texts.items()}
    assert sizes["wikipedia"] == 10_000 and sizes["general"] == sizes["lama-taught"] + 10_000
    both = sizes["pubmed-train"] + sizes["pubmed-held-out"]
    assert both == texts["pubmed-train"].counts["distinct sentences of both halves"] > 99_000
    assert not set(texts["pubmed-train"].sentences) & set(texts["pubmed-held-out"].sentences)
    told = set(texts["lama-taught"].sentences) | set(texts["lama-templates"].sentences)
    facts = google_re_facts() + trex_facts()[0]
    templates = template_texts(google_re_facts()) | template_texts(trex_facts()[0])
    half = halves("google_re") | halves("trex")
    taught = [fact for fact in facts if half[fact.fact_id] == "taught"]
    assert texts["lama-taught"].counts["facts of the taught half"] == len(taught)
    for fact in facts:
        given = [*fact.sentences, (templates[fact.fact_id], fact.object)]
        shown = {" ".join(s.replace("[MASK]", o).split()) for s, o in given}
        assert half[fact.fact_id] == "taught" or not shown & told
    assert not any("\n" in s or "[MASK]" in s for text in texts.values() for s in text.sentences)
