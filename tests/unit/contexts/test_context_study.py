"""From documents to rank changes: against one input and one entity at a time; what is scored, cut and counted."""

import math
import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import lacks, small, writer
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import slot_scores, statement_scores

import probekit as pk
from probekit.contexts.resources import Document
from probekit.contexts.sources import Source, look_up, own_contexts
from probekit.contexts.study import rank_steps, steps
from probekit.contexts.variants import TWINS, VARIANTS, real
from probekit.contexts.windows import fitted
from probekit.demo.world.contexts import demo_contexts
from probekit.errors import ProbeError
from probekit.metrics.context import counted
from probekit.models import Model
from probekit.probes.probe import Probe
from probekit.scoring.scores import SCORES
from probekit.scoring.slots import encode_candidates
from probekit.scoring.statements.likelihood import specials
from probekit.scoring.statements.writing import write

ENTITIES = ["Zagrish", "Lomese", "Old Trisonish", "Brilic", "Río Negro", "Port Velna"]
PROMPT = "Martin speaks [MASK]."
TEXT = "Of [MASK] and Lomese he wrote; Martin read Zagrish with ease, Old Trisonish never. Brilic he forgot."


POOLS = {"speaks": ENTITIES[:5], "at": ENTITIES[5:]}


def source(text: str = TEXT) -> Source:
    """One document of Martin; a last prompt makes all languages candidates and is never answered by it."""
    rows = {"prompt_id": ["0", "1", "2"], "text": [PROMPT, "It lies at [MASK].", "Ana speaks [MASK]."]}
    rows |= {"relation": ["speaks", "at", "speaks"], "subject": ["Martin", "It", "Ana"]}
    rows |= {"gold": [["Zagrish", "Brilic", "Lomese"], ["Port Velna"], ["Old Trisonish", "Río Negro"]]}
    return Source("test", pk.Probe("test", pd.DataFrame(rows), ENTITIES), [Document("d", text, "Martin")])


def grown(text: str = TEXT, most: int | None = None) -> pd.DataFrame:
    table = steps(*look_up(source(text), Counter()), most)
    return table[table["triple_id"] == "0"].reset_index(drop=True)


def test_steps_tell_what_is_added_and_what_was_there():
    table = grown()
    own = table[(table["variant"] == "real") & (table["twin"] == "target")]
    assert own["added"].tolist() == ["Zagrish", "Lomese", "Old Trisonish", "Brilic"]
    assert own["added_correct"].tolist() == [True, True, False, True]
    assert own["present_correct"].tolist() == [[], [], ["Lomese"], ["Lomese"]]
    assert own["present_incorrect"].tolist() == [[], [], [], ["Old Trisonish"]]
    assert own["order"].tolist() == [[1], [2, 1], [2, 1, 3], [2, 1, 3, 4]]
    assert own["last"].tolist() == [False, False, False, True] and set(own["centre"]) == {"Zagrish"}
    assert own["before"].iloc[0] == PROMPT
    assert own["text"].iloc[0] == f"he wrote; Martin read Zagrish with ease, {PROMPT}"
    assert own["text"].iloc[-1] == f"{TEXT.replace('[MASK]', '(MASK)')} {PROMPT}"
    assert own["text"].tolist()[:-1] == own["before"].tolist()[1:]


def test_twins_are_centred_on_the_incorrect_entity_and_score_it():
    table = grown()
    twin = table[(table["variant"] == "knowledge_sorted") & (table["twin"] == "negative")]
    assert set(twin["centre"]) == {"Old Trisonish"} and set(twin["target"]) == {"Zagrish"}
    assert twin["added"].tolist() == ["Old Trisonish", "Zagrish", "Brilic", "Lomese"]
    assert twin["added_correct"].tolist() == [False, True, True, True]  # the target is an ordinary correct one
    assert twin["present_correct"].iloc[3] == ["Zagrish", "Brilic"] and twin["present_incorrect"].iloc[3] == []
    assert set(table["variant"]) == set(VARIANTS) and set(table["twin"]) == set(TWINS)


def test_without_an_incorrect_entity_there_is_no_twin():
    table = grown("Martin read Zagrish and Lomese.")
    assert set(table["twin"]) == {"target"}


def test_at_most_so_many_segments():
    table = grown(most=2)
    assert table["step"].max() == 2 and set(table["added"]) == {"Zagrish", "Lomese"}
    assert table[table["last"]]["step"].eq(2).all() and set(table["twin"]) == {"target"}  # no wrong one among the two


def test_no_context_at_all_is_an_error():
    with pytest.raises(ProbeError, match="no document holds the subject and the target"):
        grown("Martin was silent.")


WRITERS = ["gpt2 own", "llama zoo", "t5 zoo", "bart own"]
PUBLISHED = ["gpt2 tokenizers/gpt2", "llama models/stories260K", "llama models/TinyStories-656K"]
PUBLISHED += ["t5 tokenizers/t5-small", "bart tokenizers/roberta-base"]
WRITERS += [pytest.param(case, marks=pytest.mark.slow) for case in PUBLISHED]


def naive_scores(model: Model, text: str, entities: list[str], score: str | None) -> dict[str, float]:
    """By the score, or the default of the model's kind, one entity at a time."""
    if model.kind == "masked":
        return slot_scores(model, text, entities)
    return statement_scores(model, text, entities, score or SCORES[model.kind][0])


@pytest.mark.parametrize("case", ["bert", "roberta", "albert", *WRITERS, "llama zoo mean"])
def test_rank_changes_equal_the_naive_loop(case):
    *names, score = case.split() if case.count(" ") == 2 else (*case.split(), None)
    model = writer(*names) if len(names) > 1 else small(*names)
    taken = grown()
    found = rank_steps(model, taken, POOLS, score=score)
    assert len(found) == len(taken) and found["candidates"].eq(5).all()
    checked = 0
    by_text = {text: naive_scores(model, text, POOLS["speaks"], score) for text in {*taken["before"], *taken["text"]}}
    for row, done in zip(taken.itertuples(), found.itertuples(), strict=True):
        scores = [by_text[text] for text in (row.before, row.text)]
        gaps = [abs(a - b) for s in scores for i, a in enumerate(s.values()) for b in list(s.values())[:i]]
        if min(gaps) < 1e-3:
            continue  # too close to rank
        checked += 1

        def rank(entity: str, scores: dict[str, float]) -> int:
            unscored = [e for e, s in scores.items() if s == -math.inf and e != entity]
            level = len(unscored) if scores[entity] == -math.inf else 0  # all of these share the last rank
            return 1 + level + sum(s > scores[entity] for s in scores.values())

        def change(entities: list[str], both: list[dict[str, float]] = scores) -> float:
            return np.mean([rank(e, both[1]) - rank(e, both[0]) for e in entities]) if entities else np.nan

        assert (done.rank_before, done.rank_after) == tuple(rank(row.centre, s) for s in scores)
        expected = [
            change([row.centre]),
            change([row.added]),
            change(row.present_correct),
            change(row.present_incorrect),
        ]
        assert [done.rc_centre, done.rc_added, done.rc_correct, done.rc_incorrect] == pytest.approx(
            expected, nan_ok=True
        )
    assert checked > len(taken) / 2


def test_nothing_is_scored_twice():
    taken = grown()
    inputs = {*taken["text"], *taken["before"]}
    counts = rank_steps(small("bert"), taken, POOLS).attrs["counts"]
    assert counts["prompts"] == counts["distinct prompts"] == len(inputs) < len(taken)
    assert counts["steps"] == len(taken) and counts["steps whose added entity is cut off"] == 0


def test_any_correct_answer_first_answers_and_those_that_the_context_names():
    model, taken = small("bert"), grown()
    plain, found = rank_steps(model, taken, POOLS), rank_steps(model, taken, POOLS, answers=True)
    pd.testing.assert_frame_equal(found.drop(columns=["answer", "answer_bare"]), plain)
    checked = 0
    for row, done in zip(taken.itertuples(), found.itertuples(), strict=True):
        named = {row.centre, row.added, *row.present_correct, *row.present_incorrect}
        for text, rank, answer, copied in (
            (row.before, done.any_before, None, None),
            (row.text, done.any_after, done.answer, done.copied),
            (PROMPT, None, done.answer_bare, done.copied_bare),
        ):
            scores = slot_scores(model, text, POOLS["speaks"])
            best = max(scores[one] for one in row.correct)
            others = [score for one, score in scores.items() if one not in row.correct]
            if rank is not None and min(abs(best - score) for score in others) > 1e-3:
                assert rank == 1 + sum(score > best for score in others)
            ordered = sorted(scores.values())
            if answer is not None and ordered[-1] - ordered[-2] > 1e-3:
                checked += 1
                assert answer == max(scores, key=scores.__getitem__) and copied == (answer in named)
    assert checked > len(taken) and found["answer_bare"].nunique() == 1


FLOOD = " and ".join(["the great flood"] * 80)


def test_inputs_too_long_keep_a_window_around_s1_and_their_steps_are_counted():
    model, prompt = small("bert"), f" {PROMPT}"
    taken = grown(f"Brilic {FLOOD} Lomese and Zagrish, Old Trisonish {FLOOD}")
    written = [model.tokenizer.tokenize(one) for one in POOLS["speaks"]]  # what holds an unknown token is not asked for
    room = model.max_tokens - 2 - max(len(tokens) for tokens in written if "[UNK]" not in tokens)
    seen = fitted(model, taken, POOLS)
    own = seen[(seen["variant"] == "real") & (seen["twin"] == "target")]
    assert own["added"].tolist() == ["Zagrish", "Lomese", "Old Trisonish", "Brilic"]
    assert own["cut"].tolist() == [False, False, False, True]  # Brilic lies beyond the window
    assert own["same"].eq(False).all() and own["before"].tolist()[1:] == own["text"].tolist()[:-1]
    for text in own["text"]:
        assert "Zagrish" in text and text.endswith(PROMPT) and text.removesuffix(prompt) in taken["text"].iloc[3]
        assert len(model.tokenizer.tokenize(text.replace("[MASK]", ""))) <= room
    assert "Lomese" in own["text"].iloc[-1] and "Old Trisonish" in own["text"].iloc[-1]
    found = rank_steps(model, taken, POOLS)
    assert found.attrs["counts"]["steps whose added entity is cut off"] == found["cut"].sum() > 0
    assert found[found["variant"] != "real"]["cut"].eq(False).all() and counted(found)[found["cut"]].eq(False).all()
    short = taken[taken["variant"] != "real"]
    assert fitted(model, short, POOLS)["text"].tolist() == short["text"].tolist()


def test_a_side_that_fits_is_whole_to_its_last_letter():
    taken = grown(f"Brilic {FLOOD} Lomese and Zagrish and Old Trisonish")
    own = fitted(small("bert"), taken, POOLS).query("variant == 'real' and twin == 'target'")
    last = own["text"].iloc[-1].removesuffix(f" {PROMPT}")
    assert last.endswith("Lomese and Zagrish and Old Trisonish")
    assert dict(zip(own["added"], own["cut"], strict=True))["Old Trisonish"] is False


def test_a_context_of_another_order_stops_to_grow_when_it_is_full_and_each_draw_of_it_for_itself():
    taken = grown()
    rows = taken[(taken["variant"] == "knowledge_random") & (taken["twin"] == "target")].reset_index(drop=True)
    long = rows.assign(text=rows["text"].where(rows["step"] < 3, FLOOD + " " + rows["text"]))
    seen = fitted(small("bert"), pd.concat([long, rows], ignore_index=True), POOLS)
    assert seen["cut"].tolist() == [False, False, True, True, False, False, False, False]
    assert seen["text"].tolist()[1:4] == [rows["text"][1]] * 3 and seen["text"].tolist()[4:] == rows["text"].tolist()
    missing = set(rows["added"][2:])
    assert not any(missing & {*row.present_correct, *row.present_incorrect} for row in seen[:4].itertuples())
    assert seen["before"][4] == PROMPT


@given(st.integers(0, 60), st.integers(0, 60), st.permutations(ENTITIES[:5]))
@settings(max_examples=20, deadline=None)
def test_whatever_the_document_all_inputs_fit_and_grow(left, right, names):
    model, gap = small("bert"), " the flood came "
    text = f"{gap * left}{names[0]}, Zagrish {names[1]}{gap * right}{names[2]} {names[3]}{gap * left}{names[4]}."
    taken = grown(text)
    seen = fitted(model, taken, POOLS)
    lengths = [len(ids) for ids in model.tokenizer([t.replace("[MASK]", "") for t in seen["text"]])["input_ids"]]
    assert max(lengths) <= model.max_tokens - 1
    for row in seen.itertuples():
        assert row.cut or row.added.lower() in row.text.lower()
        assert all(one.lower() in row.text.lower() for one in [*row.present_correct, *row.present_incorrect])


@pytest.mark.parametrize("case", WRITERS)
@given(st.integers(0, 60), st.integers(0, 60), st.permutations(ENTITIES[:5]))
@settings(max_examples=10, deadline=None)
def test_whatever_the_document_every_statement_fits(case, left, right, names):
    model, gap = writer(*case.split()), " the flood came "
    taken = grown(
        f"{gap * left}{names[0]}, Zagrish {names[1]}{gap * right}{names[2]} {names[3]}{gap * left}{names[4]}."
    )
    seen, candidates = fitted(model, taken, POOLS), encode_candidates(model, POOLS["speaks"], True)
    scored = [name for name, ids in zip(candidates.strings, candidates.sequences, strict=True) if ids]
    texts, room = {*seen["before"], *seen["text"]}, model.max_tokens - specials(model)
    longest = max(len(one.ids) for text in texts for one in write(model, text, scored, 10_000))
    assert longest <= room and (not seen["cut"].any() or longest > room // 2)
    assert all(row.cut or row.added in row.text for row in seen.itertuples())


def test_a_context_that_two_candidates_share_is_read_once():
    counts = rank_steps(writer("llama", "zoo"), grown(), POOLS).attrs["counts"]
    assert counts["tokens"] < counts["tokens of a loop over the statements"] / 4


def test_results_are_found_again_in_the_store(tmp_path):
    taken = grown()
    store = pk.Store(tmp_path)
    first = rank_steps(small("bert"), taken, POOLS, store=store)
    pd.testing.assert_frame_equal(rank_steps(small("bert"), taken, POOLS, store=store), first)
    fewer = {**POOLS, "speaks": ["Zagrish", "Lomese", "Old Trisonish", "Brilic"]}
    assert rank_steps(small("bert"), taken, fewer, store=store)["candidates"].eq(4).all()


def test_candidates_by_relation_are_checked():
    taken = grown()
    with pytest.raises(ProbeError, match="no candidates are given for the pool 'speaks'"):
        rank_steps(small("bert"), taken, {"at": POOLS["at"]})


# Sources


@pytest.mark.parametrize("domain", ["general", "biomedical"])
def test_every_demo_document_is_a_context_of_its_facts(domain):
    counts: Counter[str] = Counter()
    asked, found = look_up(demo_contexts(domain), counts)
    told = {(asked["subject"][one.triple], asked["target"][one.triple]) for one in found}
    many = asked[asked["golds"] > 1]
    assert told == set(zip(many["subject"], many["target"], strict=True))
    for one in random.Random(0).sample(found, 20):
        named = {m.kind for m in one.mentions}
        assert named >= set(asked["correct"][one.triple]) and named - set(asked["correct"][one.triple])


def test_nothing_found_says_what_was_read(tmp_path):
    (tmp_path / "a.csv").write_text("note\nMartin spoke Lomese.\n")
    (tmp_path / "b.txt").write_text("Martin was silent.")
    with pytest.raises(ProbeError, match="documents read 1, with a subject 1 .*files without a column 'text' 1"):
        look_up(own_contexts("mine", source().probe, tmp_path), Counter())


@pytest.mark.parametrize("domain", ["general", "biomedical"])
def test_ones_own_files_give_what_a_built_in_source_gives(tmp_path, domain):
    built = demo_contexts(domain)
    told = [{"doc_id": d.doc_id, "text": d.text, "subject": d.subject} for d in built.documents]
    pd.DataFrame(told).to_csv(tmp_path / "documents.csv.gz", index=False)
    built.probe.prompts.to_json(tmp_path / "probe.jsonl", orient="records", lines=True)
    probe = pk.load_probe(str(tmp_path / "probe.jsonl"))
    asked, found = look_up(own_contexts("mine", probe, tmp_path / "documents.csv.gz"), Counter())
    known, matches = look_up(built, Counter())
    assert asked["triple_id"].tolist() == known["triple_id"].tolist() and found == matches
    assert asked.attrs["entities"] == known.attrs["entities"] and asked["correct"].tolist() == known["correct"].tolist()
    pd.testing.assert_frame_equal(
        steps(asked, found[:20])[["text", "added"]], steps(known, found[:20])[["text", "added"]]
    )


def test_text_on_a_subject_is_one_document(tmp_path, monkeypatch):
    from probekit.contexts import sources
    from probekit.contexts.sources import medlama_contexts

    sentences = {"pubmed-train": ["aspirin eases fever", "nothing of it"], "pubmed-held-out": ["aspirin eases pain"]}
    (tmp_path / "a.txt").write_text("Pain, says Aspirin; ibuprofen too.", "utf-8")
    rows = {"text": ["aspirin treats [MASK].", "ibuprofen treats [MASK]."], "subject": ["aspirin", "ibuprofen"]}
    prompts = pd.DataFrame(
        rows | {"gold": [["fever", "pain"], ["pain"]], "prompt_id": ["a", "i"], "relation": "treats"}
    )
    monkeypatch.setattr(sources, "medlama", lambda: Probe("medlama/template", prompts, ["fever", "pain"]))
    monkeypatch.setattr(sources, "load_text", lambda half: SimpleNamespace(sentences=sentences[half]))
    monkeypatch.setattr(sources, "locate", lambda name: tmp_path)
    made = medlama_contexts()
    texts = {document.doc_id: document.text for document in made.documents}
    assert texts["aspirin"] == "aspirin eases fever aspirin eases pain Pain, says Aspirin; ibuprofen too."
    assert texts["ibuprofen"] == "Pain, says Aspirin; ibuprofen too." and len(texts) == 2
    asked, found = look_up(made, Counter())
    assert sorted(asked["target"][one.triple] for one in found) == ["fever", "pain", "pain"]
    assert len(steps(asked, found, variants={"real": real}).query("doc_id == 'aspirin'")) == 4


@pytest.mark.slow
@lacks("lama/TREx")
def test_trex_documents_are_of_one_subject():
    from probekit.contexts.sources import trex_contexts

    made = trex_contexts(per_fact=1)
    documents = list(made.documents)
    assert len({d.doc_id for d in documents}) == len(documents) > 20_000
    assert all(d.subject and "[MASK]" not in d.text for d in documents)
