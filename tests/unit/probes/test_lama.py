"""LAMA in upstream's layout, from small files written here; the published files too where PROBEKIT_DATA holds them."""

import hashlib
from pathlib import Path

import pytest
from conftest import by_id, google_row, lacks, trex_row, write_lines

import probekit as pk
from probekit.errors import ProbeError
from probekit.probes.data import data_root, locate
from probekit.probes.halves import HELD_OUT, SHARED, TAUGHT, halves, is_taught
from probekit.probes.lama import ONE_MASK, WITHOUT_DATA

DROPPED = "left out: not exactly one [MASK]"
published = lacks("lama")


def write(root: Path, name: str, rows: list) -> Path:
    return write_lines(root / "lama" / name, *rows)


def google_files(root: Path) -> None:
    birth = [
        google_row("g1", "Ada Brin", "Velna", "Ada Brin was born in [MASK].", "She left early."),
        google_row("g2", "Olm Tarr", "Osk", "Olm Tarr, born in [MASK], died in [MASK]."),
        google_row("g3", "Ada Brin", "Port Velna", "The town of [MASK] saw Ada Brin's birth.", votes="ynn"),
        google_row("g4", "Ira Lund", "Osk", "Ira Lund was born", "in [MASK] near the (osk).", votes="yyn"),
        google_row("g5", "Una Vey", "Tarn", "Una Vey came from Osk."),
        google_row("g6", "Pel Moor", "Oskburg", "Pel Moor is from [MASK], near Oskburger.", votes="yn"),
    ]
    dates = [
        google_row("d1", "Ada Brin", "1901", "Ada Brin (born [MASK]).", pred="date_of_birth", votes="s"),
        google_row("d2", "Olm Tarr", "1850", "Olm Tarr ([MASK] - 1901).", pred="date_of_birth"),
    ]
    deaths = [google_row("p1", "Ada Brin", "Osk", "Ada Brin died in [MASK].", pred="place_of_death")]
    for name, rows in (("place_of_birth", birth), ("date_of_birth", dates), ("place_of_death", deaths)):
        write(root, f"Google_RE/{name}_test.jsonl", rows)


GOOGLE_ENTITIES = ("Velna", "Osk", "Port Velna", "Tarn", "Oskburg", "1901", "1850")


# Google-RE


def test_google_re_fills_a_template_or_joins_the_sentences_of_every_fact(root):
    google_files(root)
    template, natural = pk.load_probe("google_re/template"), pk.load_probe("google_re/natural")
    texts, joined = by_id(template, "text"), by_id(natural, "text")
    assert list(texts) == ["g1", "g2", "g3", "g4", "g5", "g6", "d1", "d2", "p1"]
    assert texts["g1"] == "Ada Brin was born in [MASK]." and texts["d2"] == "Olm Tarr (born [MASK])."
    assert texts["p1"] == "Ada Brin died in [MASK]."
    assert list(joined) == ["g1", "g3", "g4", "g6", "d1", "d2", "p1"]  # the others have several masks, or none
    assert joined["g1"] == "Ada Brin was born in [MASK]. She left early."
    assert joined["g4"] == "Ira Lund was born in [MASK] near the (osk)."
    assert template.entities == natural.entities == GOOGLE_ENTITIES  # objects of facts left out compete as well
    assert template.counts == {"facts": 9, "sentences": 11, ONE_MASK: 7}
    assert natural.counts == {**template.counts, DROPPED: 2}
    assert (template.name, template.style, template.domain) == ("google_re/template", "template", "general")
    assert natural.style == "natural" and template.licence and template.citation
    relations = by_id(template, "relation")
    assert [relations[i] for i in ("g1", "d1", "p1")] == ["place_of_birth", "date_of_birth", "place_of_death"]
    pairs = template.prompts.merge(natural.prompts, on="fact_id", suffixes=("", "_natural"))
    assert len(pairs) == len(natural.prompts) and pairs["exact_surface"].all()
    for column in ("prompt_id", "gold", "relation", "subject", "exact_surface"):
        assert list(pairs[column]) == list(pairs[f"{column}_natural"])


def test_golds_are_all_objects_of_subject_and_relation_the_own_one_first(root):
    google_files(root)
    golds = by_id(pk.load_probe("google_re/template"), "gold")
    assert golds["g1"] == ["Velna", "Port Velna"]
    assert golds["g3"] == ["Port Velna", "Velna"]
    assert golds["p1"] == ["Osk"]  # another relation of the same subject
    assert golds["g4"] == ["Osk"]  # another subject
    only = pk.load_probe("google_re/template", judgments="majority")
    assert by_id(only, "gold")["g1"] == ["Velna", "Port Velna"]  # options choose prompts, not what is true


def test_a_majority_needs_more_yes_than_no_where_anybody_judged(root):
    google_files(root)
    row = google_row("p1", "Ada Brin", "Osk", "Ada Brin died in [MASK].", pred="place_of_death")
    del row["judgments"]
    write(root, "Google_RE/place_of_death_test.jsonl", [row])
    ids = by_id(pk.load_probe("google_re/template", judgments="majority"), "text")
    assert list(ids) == ["g1", "g2", "g4", "g5", "d2", "p1"]  # g3 has 1:2, g6 1:1, d1 only a skipped vote


def test_a_gold_shown_beside_the_mask_is_marked_as_a_whole_word_in_any_case(root):
    google_files(root)
    shown = by_id(pk.load_probe("google_re/natural"), "shows_gold")
    assert [key for key, shows in shown.items() if shows] == ["g4"]  # near the (osk); Oskburger is another than Oskburg
    row = google_row("g1", "Osk Lund", "Osk", "Born in [MASK].")
    write(root, "Google_RE/place_of_birth_test.jsonl", [row])
    assert by_id(pk.load_probe("google_re/template"), "shows_gold")["g1"]  # the subject's name shows it


def test_options_take_the_same_facts_in_both_styles_and_leave_the_candidates(root):
    google_files(root)
    seen = set()
    for seed in range(12):
        template, natural = (pk.load_probe(f"google_re/{s}", limit=4, seed=seed) for s in ("template", "natural"))
        drawn = list(template.prompts["fact_id"])
        assert len(drawn) == 4
        assert list(natural.prompts["fact_id"]) == [i for i in drawn if i not in ("g2", "g5")]
        assert template.entities == natural.entities == GOOGLE_ENTITIES
        seen.add(tuple(drawn))
    assert len(seen) > 6  # other seeds draw other facts
    assert set().union(*seen) == set(by_id(pk.load_probe("google_re/template", limit=99), "text"))
    part = pk.load_probe("google_re/natural", relations=["place_of_death", "date_of_birth"])
    assert list(by_id(part, "text")) == ["d1", "d2", "p1"] and part.entities == GOOGLE_ENTITIES


def test_wrong_options_are_named(root):
    google_files(root)
    with pytest.raises(ProbeError, match=r"no relation P19 at hand; there are place_of_birth, date_of_birth"):
        pk.load_probe("google_re/natural", relations=["place_of_birth", "P19"])
    with pytest.raises(ProbeError, match="judgments must be 'all' or 'majority', not 'most'"):
        pk.load_probe("google_re/natural", judgments="most")
    with pytest.raises(ProbeError, match="google_re/natural: limit must be a whole number from 1 on"):
        pk.load_probe("google_re/natural", limit=0)
    with pytest.raises(ProbeError, match="google_re/natural: no prompt is left under these options"):
        pk.load_probe("google_re/natural", relations=[])


# T-REx


def trex_files(root: Path) -> None:
    templates = {"P19": "[X] was born in [Y] .", "P27": "[Y] has a citizen , [X] .", "P30": "[X] is in [Y] ."}
    rows = [{"relation": name, "template": text, "type": "N-M"} for name, text in templates.items()]
    rows += [{"relation": name, "template": "[X] - [Y] ."} for name in sorted(WITHOUT_DATA)]
    write(root, "relations.jsonl", rows)
    repeated = ("Brin, of [MASK], painted.", "Velna")
    births = [
        trex_row("t1", "Ada Brin", "Velna", repeated, ("Brin came from [MASK].", "old Velna"), repeated),
        trex_row("t2", "Olm Tarr", "Osk", ("Tarr knew Osk and [MASK].", "Osk"), ("[MASK] or [MASK].", "Osk")),
        trex_row("t3", "Una Vey", "Tarn", *((f"Vey wrote {i} songs in [MASK].", "Tarn") for i in range(9))),
    ]
    citizens = [
        trex_row("c1", "Ada Brin", "Mirland", ("Ada of [MASK].", "Mirland"), relation="P27"),
        trex_row("c2", "Ada Brin", "Osk", ("Ada lived in [MASK].", "Osk"), relation="P27"),
        trex_row("c3", "Olm Tarr", "Mirland", ("Olm, the [MASK] poet.", "Mirlandic"), relation="P27"),
    ]
    write(root, "TREx/P19.jsonl", births)
    write(root, "TREx/P27.jsonl", citizens)
    write(root, "TREx/P999.jsonl", [trex_row("x", "Not", "declared", ("[MASK]", "declared"), relation="P999")])


TREX_ENTITIES = ("Velna", "Osk", "Tarn", "Mirland")


def test_trex_templates_are_those_of_relations_jsonl(root):
    trex_files(root)
    probe = pk.load_probe("trex/template")
    assert by_id(probe, "text") == {
        "t1": "Ada Brin was born in [MASK] .",
        "t2": "Olm Tarr was born in [MASK] .",
        "t3": "Una Vey was born in [MASK] .",
        "c1": "[MASK] has a citizen , Ada Brin .",
        "c2": "[MASK] has a citizen , Ada Brin .",
        "c3": "[MASK] has a citizen , Olm Tarr .",
    }
    assert probe.entities == TREX_ENTITIES  # an undeclared relation's file adds none
    assert probe.prompts["exact_surface"].all() and set(probe.prompts["kind"]) == {"N-M"}


def test_trex_relations_without_a_file_are_warned_of_and_counted(root, caplog):
    trex_files(root)
    probe = pk.load_probe("trex/template")
    assert [r.getMessage() for r in caplog.records] == ["T-REx: no file for 1 of the relations: P30"]
    assert probe.counts == {"facts": 6, "sentences": 17, ONE_MASK: 16, "relations absent": 1}
    caplog.clear()
    write(root, "TREx/P30.jsonl", [trex_row("k", "Osk", "Mirland", ("Osk, [MASK]", "Mirland"), relation="P30")])
    assert pk.load_probe("trex/template").counts["relations absent"] == 0
    assert not caplog.records


def test_trex_has_one_natural_prompt_a_sentence_repeated_ones_too(root):
    trex_files(root)
    probe = pk.load_probe("trex/natural")
    texts = by_id(probe, "text")
    assert [i for i in texts if i.startswith("t1")] == ["t1/0", "t1/1", "t1/2"]
    assert texts["t1/0"] == texts["t1/2"] == "Brin, of [MASK], painted."
    assert "t2/1" not in texts
    assert "t3/8" in texts
    assert probe.counts == {
        "facts": 6,
        "sentences": 17,
        ONE_MASK: 16,
        "relations absent": 1,
        DROPPED: 1,
    }
    assert set(by_id(probe, "fact_id").values()) == set(pk.load_probe("trex/template").prompts["fact_id"])
    assert [i for i, exact in by_id(probe, "exact_surface").items() if not exact] == ["t1/1", "c3/0"]
    assert [i for i, shown in by_id(probe, "shows_gold").items() if shown] == ["t2/0"]


def test_trex_golds_of_many_to_many_relations(root):
    trex_files(root)
    for style, suffix in (("template", ""), ("natural", "/0")):
        golds = by_id(pk.load_probe(f"trex/{style}"), "gold")
        assert golds["c1" + suffix] == ["Mirland", "Osk"]
        assert golds["c2" + suffix] == ["Osk", "Mirland"]
        assert golds["c3" + suffix] == ["Mirland"]
        assert golds["t1" + suffix] == ["Velna"]


def test_subjects_of_one_name_are_told_apart_by_their_uri(root):
    trex_files(root)
    rows = [trex_row("n1", "Ada", "Velna", ("[MASK]", "Velna")), trex_row("n2", "Ada", "Osk", ("[MASK].", "Osk"))]
    rows[1]["sub_uri"] = "another Ada"
    write(root, "TREx/P19.jsonl", rows)
    golds = by_id(pk.load_probe("trex/template", relations=["P19"]), "gold")
    assert golds == {"n1": ["Velna"], "n2": ["Osk"]}


def test_per_fact_draws_different_sentences_of_each_fact_on_its_own(root):
    trex_files(root)
    draws = set()
    for seed in range(8):
        probe = pk.load_probe("trex/natural", per_fact=3, seed=seed)
        prompts = probe.prompts.groupby("fact_id")["text"].agg(tuple)
        assert prompts.map(len).to_dict() == {"t1": 2, "t2": 1, "t3": 3, "c1": 1, "c2": 1, "c3": 1}
        assert len(set(prompts["t3"])) == 3  # and t1 has only two different ones
        draws.add(prompts["t3"])
        part = pk.load_probe("trex/natural", per_fact=3, seed=seed, relations=["P19"])
        assert prompts["t3"] == tuple(part.prompts["text"][part.prompts["fact_id"] == "t3"])
        assert part.entities == TREX_ENTITIES
    assert len(draws) > 4


# SQuAD and ConceptNet


def test_squad_questions_are_facts_of_their_own_although_their_subject_is_one(root):
    rows = [
        {"masked_sentences": ["The [MASK] was blue."], "obj_label": "gate", "id": "s1", "sub_label": "Squad"},
        {"masked_sentences": ["[MASK] is", "[MASK]."], "obj_label": "river", "id": "s2", "sub_label": "Squad"},
        {"masked_sentences": ["They met by the", "[MASK]."], "obj_label": "tower", "id": "s3", "sub_label": "Squad"},
    ]
    write(root, "Squad/test.jsonl", rows)
    probe = pk.load_probe("squad")
    assert by_id(probe, "gold") == {"s1": ["gate"], "s3": ["tower"]}
    assert by_id(probe, "text")["s3"] == "They met by the [MASK]."
    assert probe.entities == ("gate", "river", "tower")
    assert probe.counts == {"facts": 3, "sentences": 5, ONE_MASK: 4, DROPPED: 1}
    assert probe.style == "natural"


def test_conceptnet_takes_relation_and_subject_from_each_row(root):
    def row(uuid: str, pred: str, obj: str, *sentences: str, **subject: str) -> dict:
        return {"uuid": uuid, "pred": pred, "obj_label": obj, "masked_sentences": list(sentences), **subject}

    rows = [
        row("k1", "IsA", "bird", "A wren is a [MASK].", sub="wren"),
        row("k2", "IsA", "animal", "A wren is an [MASK].", sub="wren"),
        row("k3", "AtLocation", "nest", "A wren lives in a [MASK].", sub_label="wren"),
        row("k4", "IsA", "bird", "The [MASK] is a [MASK].", sub="crow"),
    ]
    write(root, "ConceptNet/test.jsonl", rows)
    probe = pk.load_probe("conceptnet")
    assert by_id(probe, "relation") == {"k1": "IsA", "k2": "IsA", "k3": "AtLocation"}
    assert set(by_id(probe, "subject").values()) == {"wren"}
    assert by_id(probe, "gold") == {"k1": ["bird", "animal"], "k2": ["animal", "bird"], "k3": ["nest"]}
    assert probe.counts[DROPPED] == 1
    part = pk.load_probe("conceptnet", relations=["AtLocation"])
    assert list(part.prompts["prompt_id"]) == ["k3"]
    assert part.entities == ("bird", "animal", "nest")


# Broken files


ROW = google_row("g9", "Ada Brin", "Velna", "Born in [MASK].")
GOOGLE = "google_re/template", "Google_RE/date_of_birth_test.jsonl"
TREX, RELATIONS = ("trex/natural", "TREx/P27.jsonl"), ("trex/natural", "relations.jsonl")


def without(name: str, *more: str) -> dict:
    return {key: field for key, field in ROW.items() if key not in (name, *more)}


@pytest.mark.parametrize(
    ("where", "broken", "field"),
    [
        (GOOGLE, without("obj_label"), "obj_label"),
        (GOOGLE, ROW | {"obj_label": ["Velna"]}, "obj_label"),
        (GOOGLE, ROW | {"masked_sentences": "Born in [MASK]."}, "masked_sentences"),
        (GOOGLE, ROW | {"masked_sentences": ["Born in", None]}, "masked_sentences"),
        (GOOGLE, ROW | {"masked_sentences": None}, "masked_sentences"),
        (GOOGLE, without("masked_sentences", "evidences"), "masked_sentences"),
        (GOOGLE, without("uuid"), "id"),
        (GOOGLE, ROW | {"judgments": ["yes"]}, "judgment"),
        (GOOGLE, ROW | {"judgments": "yes"}, "judgments"),
        (GOOGLE, ROW | {"sub": ["Ada"], "sub_label": None, "sub_uri": None}, "sub"),
        (GOOGLE, ROW | {"sub_label": ["Ada"]}, "sub_label"),
        (GOOGLE, ROW | {"sub_uri": {"a": 1}}, "sub_uri"),
        (TREX, without("masked_sentences") | {"evidences": [{"masked_sentence": "[MASK]"}]}, "obj_surface"),
        (TREX, without("masked_sentences") | {"evidences": [{"obj_surface": "Osk"}]}, "masked_sentence"),
        (TREX, without("masked_sentences") | {"evidences": ["[MASK]"]}, "masked_sentence"),
        (TREX, without("masked_sentences") | {"evidences": {"masked_sentence": "[MASK]"}}, "evidences"),
        (RELATIONS, {"template": "[X] [Y]"}, "relation"),
        (RELATIONS, {"relation": "P1", "template": None}, "template"),
        (("conceptnet", "ConceptNet/test.jsonl"), without("pred"), "pred"),
    ],
)
def test_a_malformed_row_names_file_line_and_field(root, where, broken, field):
    google_files(root)
    trex_files(root)
    name, file = where
    path = write(root, file, [broken])
    with pytest.raises(ProbeError) as caught:
        pk.load_probe(name)
    assert str(caught.value) == f"{path}, line 1, field '{field}': missing, or of the wrong kind"


# Where data lies


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("google_re/natural", "lama/Google_RE/place_of_birth_test.jsonl"),
        ("trex/natural", "lama/relations.jsonl"),
        ("squad", "lama/Squad/test.jsonl"),
        ("conceptnet", "lama/ConceptNet/test.jsonl"),
        ("medlama/template", "medlama/medlama/prompts.csv"),
        ("biolama/ctd", "biolama/data/ctd/prompts/manual.jsonl"),
    ],
)
def test_missing_data_names_file_folder_and_remedy(root, name, file):
    with pytest.raises(ProbeError) as caught:
        pk.load_probe(name)
    message = str(caught.value)
    assert message.startswith(f"{file} is not in the data folder {root}")
    assert f"probekit fetch {file.partition('/')[0]}" in message
    assert "PROBEKIT_DATA" in message


def test_data_lies_in_the_cache_where_no_folder_is_given(tmp_path, monkeypatch):
    monkeypatch.delenv("PROBEKIT_DATA", raising=False)
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "own"))
    assert data_root() == tmp_path / "own/data"
    monkeypatch.delenv("PROBEKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert data_root() == tmp_path / "xdg/probekit/data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_root() == tmp_path / "home/.cache/probekit/data"
    (tmp_path / "home/.cache/probekit/data").mkdir(parents=True)
    assert locate("") == data_root()


# Halves


def by_hand(text: str) -> bool:
    return hashlib.sha1(text.encode("utf-8")).digest()[3] % 2 == 0  # the 8th hexadecimal digit ends the 4th byte


def test_the_rule_of_the_halves():
    facts = [(f"P{i}", f"Ada Bríñ {i}", f"Osk {i % 7}") for i in range(400)]
    assert [is_taught(*fact) for fact in facts] == [by_hand("|".join(fact)) for fact in facts]
    assert 150 < sum(is_taught(*fact) for fact in facts) < 250
    assert hashlib.sha1(b"P19|Ada|Osk").hexdigest()[:8] == "9e400345"
    assert not is_taught("P19", "Ada", "Osk")  # 5 is odd
    assert hashlib.sha1(b"P19|Dot|Osk").hexdigest()[:8] == "99fcb5e4"
    assert is_taught("P19", "Dot", "Osk")  # 4 is even


def subjects(relation: str, taught: bool, count: int) -> list[str]:
    """So many subjects whose fact ``relation|subject|Osk`` is taught, or not."""
    names = (f"Person {i}" for i in range(1000))
    chosen = [name for name in names if by_hand(f"{relation}|{name}|Osk") == taught]
    return chosen[:count]


def test_trex_halves_tell_taught_held_out_and_shared_sentences(root):
    trex_files(root)
    (taught,), (apart, shared, other) = subjects("P19", True, 1), subjects("P19", False, 3)
    rows = [
        trex_row("h1", taught, "Osk", ("They met in [MASK].", "Osk"), ("A dull day in [MASK].", "Osk")),
        trex_row("h2", apart, "Osk", (f"{apart} came from [MASK].", "Osk")),
        trex_row("h3", shared, "Osk", ("Nobody slept in [MASK].", "Osk"), ("[MASK] met in Osk.", "They")),
        trex_row("h4", other, "Osk", ("They met in [MASK].", "the old Osk")),
    ]
    write(root, "TREx/P19.jsonl", rows)
    write(root, "TREx/P27.jsonl", [])
    assert halves("trex") == {"h1": TAUGHT, "h2": HELD_OUT, "h3": SHARED, "h4": HELD_OUT}


def test_google_re_halves_take_the_predicate_of_the_file(root):
    google_files(root)
    rows = pk.load_probe("google_re/template").prompts.to_dict("records")
    texts = {row["fact_id"]: f"/people/person/{row['relation']}|{row['subject']}|{row['gold'][0]}" for row in rows}
    assert texts["d2"] == "/people/person/date_of_birth|Olm Tarr|1850"
    assert {fact: half == TAUGHT for fact, half in halves("google_re").items()} == {i: by_hand(texts[i]) for i in texts}


def test_other_data_sets_have_no_halves():
    with pytest.raises(ProbeError, match="'squad' has no halves; google_re, trex and trex41 have"):
        halves("squad")


# The published files


GOOGLE_COUNTS = {"facts": 5528, "sentences": 6106, ONE_MASK: 5285}
TREX_COUNTS = {"facts": 22881, "sentences": 138678, ONE_MASK: 138678, "relations absent": 13}


@pytest.mark.slow
@published
@pytest.mark.parametrize(
    ("name", "prompts", "relations", "entities", "counts"),
    [
        ("google_re/template", 5528, 3, 870, GOOGLE_COUNTS),
        ("google_re/natural", 5200, 3, 870, GOOGLE_COUNTS | {DROPPED: 328}),
        ("squad", 302, 1, 303, {"facts": 305, "sentences": 305, ONE_MASK: 302, DROPPED: 3}),
        ("trex/natural", 138678, 28, 1478, TREX_COUNTS),
        ("trex/template", 22881, 28, 1478, TREX_COUNTS),
    ],
)
def test_the_published_files(name, prompts, relations, entities, counts):
    probe = pk.load_probe(name)
    assert (len(probe.prompts), probe.prompts["relation"].nunique()) == (prompts, relations)
    assert (len(probe.entities), probe.counts) == (entities, counts)


def test_one_prompt_an_evidence_gives_both_styles_the_same_number(root):
    sentences = ("Born in [MASK].", "In [MASK] she lived.", "No mask.", "[MASK] and [MASK].")
    write(root, "Google_RE/place_of_birth_test.jsonl", [google_row("a", "Ann", "Osk", *sentences)])
    for name in ("date_of_birth", "place_of_death"):
        write(root, f"Google_RE/{name}_test.jsonl", [])
    natural, template = (pk.load_probe(f"google_re/{style}", unit="evidence") for style in ("natural", "template"))
    assert natural.prompts["text"].tolist() == list(sentences[:2])
    assert template.prompts["text"].tolist() == ["Ann was born in [MASK]."] * 2
    assert set(natural.prompts["fact_id"]) == set(template.prompts["fact_id"]) == {"a"}
    assert natural.prompts["prompt_id"].tolist() == template.prompts["prompt_id"].tolist()
    assert template.counts["sentences with exactly one mask"] == 2
