"""What a run of study 4 asks, and the files that it reads."""

import json

import pandas as pd
import pytest
from conftest import small

import probekit as pk
from probekit.demo.world.honest import demo_honest_templates, demo_lexicon
from probekit.errors import ProbekitError
from probekit.probes.completions import Completions
from probekit.report import Page
from probekit.report.outcomes import read_outcomes
from probekit.report.sources import complete
from probekit.run import answer

from notebooks.fairness import ask, groups, hurtfulness
from notebooks.fairness.matching import by_model

REAL = pd.DataFrame({"text": ["she is a [MASK]."], "identity": ["she"], "category": ["female"]})


@pytest.fixture
def page(tmp_path) -> Page:
    return Page("41_hurtfulness", complete("41_hurtfulness", {"out": str(tmp_path)}))


def test_a_models_completions_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    model, prompts = small("bert"), list(demo_honest_templates()["text"][:3])
    sets = {"a": pd.DataFrame({"text": prompts}), "b": pd.DataFrame({"text": prompts[:1]})}
    found = ask.completed(answer(ask.completing([model], sets, 5), store=pk.Store()), sets)
    whole = pk.top_completions(model, prompts, 5)
    ((name, rows),) = found["a"].items()
    assert rows == [whole["completion"][whole["prompt_id"] == n].tolist() for n in range(3)]
    assert found["b"] == {name: rows[:1]} and list(tmp_path.rglob("*.parquet"))


def test_files_are_scored_template_by_template(tmp_path, page):
    questions = ask.load(page, "auto", ["zoo/bert-tiny"])
    assert questions.name == ask.DEMO and page.demo
    word, texts = demo_lexicon()[0], [["a", "b", "c"]] * len(demo_honest_templates())
    texts[:24] = [[word, "x", word]] * 24
    lines = [json.dumps({"template_id": f"demo-{n}", "completions": row}) for n, row in enumerate(texts)]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(lines[::-1]), encoding="utf-8")  # in another order than the templates
    found = ask.ask_all(page, [], [str(path)], questions, 2)
    assert list(found) == ["demo"] and found["demo"]["mine"][0] == [word, "x"]  # the first k
    page.close()
    told = read_outcomes(page.out)
    assert told["model"].tolist() == ["mine"] * len(texts)
    assert told["asked"].tolist() == questions.sets["demo"]["text"].tolist()
    assert told["answers"].map(list).tolist()[0] == [word, "x"]
    assert told["hurtful"].map(list).tolist() == [[True, False]] * 24 + [[False, False]] * (len(texts) - 24)
    table = hurtfulness.run_rows(ask.score_all(found, questions))
    assert by_model(table, "audited_plain").loc["mine", "mean"] == pytest.approx(24 / len(texts) / 2)
    with pytest.raises(ProbekitError, match="3 completions of a template, but the page asks for 4: give more"):
        ask.ask_all(page, [], [str(path)], questions, 4)
    path.write_text(lines[0], encoding="utf-8")
    with pytest.raises(ProbekitError, match="has 1 lines"):
        ask.ask_all(page, [], [str(path)], questions, 2)


def test_lines_are_found_by_id_or_by_prompt_and_a_mismatch_is_an_error():
    rows = [("t-0", "he is a [MASK]."), ("t-1", "she is a [MASK]."), ("t-2", "he is a [MASK].")]
    table = pd.DataFrame(rows, columns=["template_id", "text"])
    questions = ask.Questions("mine", {"a": table[:2], "b": table[2:]}, [])

    def said(ids: list[str], prompts: list[str]) -> Completions:
        return Completions(tuple(ids), tuple(prompts), (("x",),) * len(ids))

    assert ask.aligned("f", said(["t-2", "t-0", "t-1"], [""] * 3), questions) == {"a": [1, 2], "b": [0]}
    prompts = ["she is a <mask>.", "he is a ", "he is a"]  # the same words in their order
    assert ask.aligned("f", said(prompts, prompts), questions) == {"a": [1, 0], "b": [2]}
    with pytest.raises(ProbekitError, match="template_id 't-1'"):
        ask.aligned("f", said(["t-2", "t-0", "t-0"], [""] * 3), questions)
    with pytest.raises(ProbekitError, match="the prompt 'she is a"):
        ask.aligned("f", said(["x"] * 3, ["he is a", "he is a", "they are"]), questions)


def test_what_is_drawn_is_asked_by_the_parameters_of_the_page_and_said(page, monkeypatch):
    page.parameters |= {"models": ["zoo/bert-tiny"], "templates": ask.REAL}
    monkeypatch.setattr(ask, "honest_templates", lambda *_: REAL)
    page.models["bert"] = {}
    assert ask.how(page.parameters) == {"sampling": None, "instruction": None} and ask.as_the_paper(page)
    assert not ask.drawn(page) and ask.asking_sentence(page) == ""
    page.parameters |= {"decoding": "sample", "top_p": 0.5, "seed": 3, "chat": True, "instruction": "Go on."}
    (question, *_) = ask.completions(page.parameters)
    assert (question.sampling.temperature, question.sampling.top_p, question.sampling.seed) == (1, 0.5, 3)
    assert question.instruction == "Go on." and not ask.as_the_paper(page) and ask.drawn(page)
    assert "seed 3), which stand in the order drawn" in ask.asking_sentence(page)
    assert "“Go on" in ask.asking_sentence(page)
    page.parameters |= {"temperature": -1.0}
    with pytest.raises(ProbekitError, match="temperature must be above 0, not -1.0"):
        ask.completions(page.parameters)


def test_what_is_asked_by_default(page, monkeypatch):
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(ask, "honest_templates", lambda *which: asked.append(which) or REAL)
    words = pd.DataFrame({"lemma": ["fool"], "category": ["cds"]})
    monkeypatch.setattr(ask, "hurtlex", lambda code, **_: asked.append((code,)) or words)
    assert ask.load(page, "auto", []).name == ask.REAL  # such as a run on the release alone
    assert ask.load(page, "auto", ["zoo/bert-tiny", "some/model"]).name == ask.REAL
    assert ask.load(page, "auto", ["zoo/bert-tiny"], ["mine.jsonl"]).name == ask.REAL
    assert not page.demo
    asked.clear()
    assert list(ask.load(page, "honest", [], language="it").sets) == ["binary"]
    assert asked == [("binary", "it"), ("IT",)]
    with pytest.raises(ProbekitError, match="language='de'"):
        ask.load(page, "honest", [], language="de")
    for language, said in (("it", "the demo world is English: give templates='honest'"), ("de", "HONEST has en, es")):
        with pytest.raises(ProbekitError, match=f"language='{language}': {said}"):
            ask.load(page, "demo", [], language=language)
    with pytest.raises(ProbekitError, match="templates='all': give demo, honest, auto or a .tsv file"):
        ask.load(page, "all", [])


def test_what_was_released_is_in_english(page):
    page.parameters |= {"language": "it", "released": False}
    assert not ask.in_english(page)
    page.parameters["released"] = True
    with pytest.raises(ProbekitError, match="language='it': the released completions are English"):
        ask.in_english(page)
    page.parameters["language"] = "en"
    assert ask.in_english(page)


LEXICON = (
    "id\tpos\tcategory\tstereotype\tlemma\tlevel\n"
    "1\tn\tcds\tno\tfool\tconservative\n2\tn\tan\tno\tpig\tconservative\n3\tn\tan\tno\tlamb\tinclusive\n"
)


@pytest.fixture
def lexicon(tmp_path, monkeypatch):
    """A lexicon of three words where the published one would lie, and templates."""
    monkeypatch.setattr(ask, "honest_templates", lambda *_: REAL)
    path = tmp_path / "hurtlex/lexica/EN/1.2/hurtlex_EN.tsv"
    path.parent.mkdir(parents=True)
    path.write_text(LEXICON, "utf-8")
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))


def test_by_default_a_run_counts_by_the_papers_lexicon(page, lexicon):
    questions = ask.load(page, ask.REAL, [])
    assert questions.lexicon == ["fool", "pig"] and questions.categories == {"cds": ["fool"], "an": ["pig"]}
    assert "honest lexicon" in page.probes and ask.lexicon_sentence(page) == ""


@pytest.mark.parametrize(
    ("given", "words", "said"),
    [
        ({"levels": ["conservative", "inclusive"]}, ["fool", "pig", "lamb"], "conservative and inclusive"),
        ({"levels": ["inclusive"], "categories": ["an"]}, ["lamb"], "inclusive, categories an"),
        ({"categories": ["cds"]}, ["fool"], "categories cds"),
    ],
)
def test_a_run_counts_by_the_lexicon_that_it_names_and_says_so(page, lexicon, given, words, said):
    page.parameters |= given
    assert ask.load(page, ask.REAL, []).lexicon == words == ask.lexicon(page)["lemma"].tolist()
    assert f"honest lexicon, {said}" in page.probes and f"HurtLex, {said};" in ask.lexicon_sentence(page)
    with pytest.raises(ProbekitError, match="the demo world has no HurtLex"):
        ask.load(page, ask.DEMO, [])
    with pytest.raises(ProbekitError, match="Table 1 is counted by the paper's lexicon"):
        hurtfulness.tables(page, [])


def test_a_run_counts_by_a_lexicon_of_ones_own_and_says_so(page, lexicon, tmp_path):
    mine = tmp_path / "mine.tsv"
    mine.write_text("lemma\tcategory\nsaint \tkind\npig\t\n")
    page.parameters["lexicon"] = str(mine)
    for templates in (ask.REAL, ask.DEMO):
        assert ask.load(page, templates, []).lexicon == ["saint", "pig"]
        assert ask.load(page, templates, []).categories == {"kind": ["saint"]}
    assert not ask.as_the_paper(page)
    assert r"counted by words of mine\.tsv; the paper takes HurtLex" in ask.lexicon_sentence(page)
    assert "honest lexicon, words of mine.tsv" in page.probes
    with pytest.raises(ProbekitError, match="Table 1 is counted by the paper's lexicon, not by words of mine.tsv"):
        hurtfulness.tables(page, [])


def test_templates_of_ones_own_are_in_honests_layout(page, lexicon, tmp_path):
    assert ask.as_the_paper(page)
    mine = tmp_path / "mine.tsv"
    mine.write_text(
        "template_masked\tidentity\tnumber\tcategory\ttype\nthe cook is a [M].\tthe cook\tsingular\ttrade\tverb\n"
    )
    questions = ask.load(page, str(mine), [])
    assert questions.sets["mine"][["template_id", "text"]].to_numpy().tolist() == [["mine-0", "the cook is a [MASK]."]]
    assert questions.lexicon == ["fool", "pig"] and "mine templates" in page.probes
    page.parameters["templates"] = str(mine)
    assert not ask.as_the_paper(page)
    scored = ask.score_all({"mine": {"m": [["fool", "saint"]]}}, questions)
    with pytest.raises(ProbekitError, match=r"all templates are of the category \['trade'\]"):
        groups.tables(scored, questions)
    with pytest.raises(ProbekitError, match="cannot read none.tsv"):
        ask.load(page, "none.tsv", [])


@pytest.mark.parametrize("given", [{"language": "it"}, {"levels": ["inclusive"]}, {"templates": "demo"}])
def test_other_templates_or_words_take_no_place_in_table_1(page, given):
    page.parameters |= given
    assert not ask.as_the_paper(page)


@pytest.mark.parametrize(
    ("given", "mine", "said"),
    [
        ({"levels": []}, "", "give conservative or inclusive"),
        ({"categories": ["zz"]}, "", "no category zz"),
        ({"categories": ["cds"]}, "lemma\nfool\n", "levels and categories are of HurtLex: with lexicon="),
        ({}, "lemma\tcategory\npig\tx\n \ty\n", "line 3: the column 'lemma' is empty"),
        ({}, "word\npig\n", "no column lemma; it has word"),
    ],
)
def test_a_lexicon_that_tells_no_words_is_refused(page, lexicon, tmp_path, given, mine, said):
    (tmp_path / "mine.tsv").write_text(mine)
    page.parameters |= given | ({"lexicon": str(tmp_path / "mine.tsv")} if mine else {})
    with pytest.raises(ProbekitError, match=said):
        ask.load(page, ask.REAL, [])
