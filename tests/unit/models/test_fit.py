"""A tokenizer, weights or a configuration that do not fit a network are refused; what may be meant is warned of."""

import copy
import itertools
import json
import shutil

import pandas as pd
import pytest
import torch
import transformers
from conftest import NETWORKS, configured, small, wordpiece
from tokenizers import Tokenizer, normalizers

import probekit as pk
from probekit.demo.shipped import shipped_folder
from probekit.demo.training.own import train_files
from probekit.errors import CAUTIONS, ModelError
from probekit.models.fit import check_tokenizer
from probekit.models.loading import load_encoder
from probekit.scoring import rank_within

TOKENS = len(small("bert").tokenizer)  # 220
TEXT = "The [MASK] was born in Río Negro."


def saved(folder, family="bert", network=None, tokenizer=None):
    (network or small(family).network).save_pretrained(folder)
    (tokenizer or copy.deepcopy(small(family).tokenizer)).save_pretrained(folder)
    return str(folder)


def resized(rows, family="bert"):
    network = copy.deepcopy(small(family).network)
    network.resize_token_embeddings(rows)
    return network


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == CAUTIONS]


# Tokenizers


@pytest.mark.parametrize("family", NETWORKS)
def test_a_folder_without_a_tokenizer_is_refused(tmp_path, family):
    small(family).network.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="tokenizer"):
        pk.load_model(str(tmp_path))


@pytest.mark.parametrize("rows", [TOKENS, TOKENS + 4, 256, TOKENS + 127])
def test_embeddings_may_be_padded_to_a_round_number(tmp_path, rows, caplog):
    model = pk.load_model(saved(tmp_path, network=resized(rows)))
    assert model.network.get_input_embeddings().weight.shape[0] == rows and not said(caplog)


def test_large_embeddings_may_be_padded_by_a_tenth():
    tokenizer = copy.deepcopy(small("bert").tokenizer)
    tokenizer.add_tokens([f"word{number}" for number in range(4000)])
    known = len(tokenizer)
    check_tokenizer("m", "masked", resized(int(known / 0.9)), tokenizer)
    with pytest.raises(ModelError, match=f"knows {known:,} of them"):
        check_tokenizer("m", "masked", resized(int(known / 0.9) + 3), tokenizer)


@pytest.mark.parametrize("rows", [TOKENS + 128, 2 * TOKENS + 1, 5000])
def test_a_tokenizer_that_knows_too_few_of_the_embeddings_is_refused(tmp_path, rows):
    with pytest.raises(ModelError, match=f"{rows:,} embeddings, but its tokenizer knows {TOKENS} of them"):
        pk.load_model(saved(tmp_path, network=resized(rows)))
    if rows == 5000:
        with pytest.raises(ModelError, match="its tokenizer knows"):
            load_encoder(str(tmp_path))


def test_a_tokenizer_of_more_tokens_than_embeddings_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"has 3 ids beyond them, such as 217 for '\S+': it is another model's"):
        pk.load_model(saved(tmp_path, network=resized(TOKENS - 3)))


def test_added_tokens_with_embeddings_are_tokens_like_others(tmp_path, caplog):
    tokenizer = copy.deepcopy(small("bert").tokenizer)
    tokenizer.add_tokens(["[DRUG]", "[GENE]"])
    model = pk.load_model(saved(tmp_path, network=resized(len(tokenizer)), tokenizer=tokenizer))
    assert not said(caplog) and len(pk.pseudo_perplexity(model, ["A [DRUG] heals"])) == 1


def test_added_tokens_without_embeddings_are_warned_of_and_refused_in_texts(tmp_path, caplog):
    tokenizer = copy.deepcopy(small("bert").tokenizer)
    tokenizer.add_tokens(["[DRUG]", "[GENE]"])
    model = pk.load_model(saved(tmp_path / "own", tokenizer=tokenizer))
    assert said(caplog) == ["own: its network has no embedding of 2 added tokens: [DRUG], [GENE]."]
    assert len(pk.pseudo_perplexity(model, ["A drug heals"])) == 1
    with pytest.raises(ModelError, match=rf"token '\[DRUG\]' \({TOKENS}\), beyond the {TOKENS} embeddings"):
        pk.pseudo_perplexity(model, ["A [DRUG] heals"])
    with pytest.raises(ModelError, match="beyond the"):
        pk.top_completions(model, ["A [DRUG] is a [MASK]."], k=2)


def test_special_tokens_need_an_embedding(tmp_path):
    tokenizer = copy.deepcopy(small("bert").tokenizer)
    tokenizer.add_special_tokens({"pad_token": "<fill>"})
    with pytest.raises(ModelError, match=f"such as {TOKENS} for '<fill>'"):
        pk.load_model(saved(tmp_path, tokenizer=tokenizer))


def test_positions_that_are_counted_from_another_padding_are_refused(tmp_path):
    saved(tmp_path, "roberta")
    configured(tmp_path, pad_token_id=3)
    with pytest.raises(ModelError, match=r"which is 3 in config\.json and 1 in its tokenizer"):
        pk.load_model(str(tmp_path))


def test_other_special_ids_than_the_configurations_are_warned_of(tmp_path, caplog):
    saved(tmp_path / "mine")
    configured(tmp_path / "mine", pad_token_id=3, mask_token_id=4, bos_token_id=-1, eos_token_id=[1, 2])
    pk.load_model(str(tmp_path / "mine"))
    (text,) = said(caplog)
    assert text.startswith("mine: its tokenizer has other special ids than its config.json (pad 0, not 3)")


@pytest.mark.parametrize("lower", [True, False])
def test_a_cased_vocabulary_under_a_tokenizer_that_lowers_is_warned_of(tmp_path, caplog, lower):
    tokenizer = copy.deepcopy(small("bert").tokenizer)
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    pk.load_model(saved(tmp_path, tokenizer=tokenizer))
    assert len(said(caplog)) == lower and all("minds case" in text and "do_lower_case" in text for text in said(caplog))


def test_models_that_fit_are_loaded_without_a_word(tmp_path, caplog):
    for family in NETWORKS:
        pk.load_model(saved(tmp_path / family, family))
    for name in ("zoo/bert-tiny", "zoo/roberta-tiny", "zoo/albert-tiny", "zoo/llama-tiny", "zoo/t5-tiny"):
        pk.load_model(name)
    load_encoder("zoo/bert-small")
    assert not said(caplog)


# Weights and configuration


@pytest.mark.parametrize("layers", [-1, 0])
def test_a_network_without_layers_is_refused(tmp_path, layers):
    saved(tmp_path)
    configured(tmp_path, num_hidden_layers=layers)
    with pytest.raises(ModelError, match=f"{layers} layers"):
        pk.load_model(str(tmp_path))
    with pytest.raises(ModelError, match=f"{layers} layers"):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize(("family", "name"), [("bert", "num_hidden_layers"), ("distilbert", "n_layers")])
def test_a_network_of_fewer_layers_than_its_checkpoint_is_refused(tmp_path, family, name):
    saved(tmp_path, family)
    configured(tmp_path, **{name: 1})
    with pytest.raises(ModelError, match=r"no place for \d+ weights of the checkpoint: .*layer\.1\."):
        pk.load_model(str(tmp_path))
    assert pk.load_model(str(tmp_path), allow_missing=True).kind == "masked"
    with pytest.raises(ModelError, match="no place for"):
        load_encoder(str(tmp_path))


def test_heads_of_other_tasks_and_poolers_are_let_be(tmp_path):
    saved(tmp_path)
    transformers.BertForPreTraining(small("bert").network.config).save_pretrained(tmp_path)
    configured(tmp_path, architectures=["BertForMaskedLM"])
    assert pk.load_model(str(tmp_path)).kind == "masked" and load_encoder(str(tmp_path)).kind == "encoder"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path, value):
    network = copy.deepcopy(small("bert").network)
    with torch.no_grad():
        network.bert.encoder.layer[1].output.dense.weight[3, 3] = value
    with pytest.raises(ModelError, match=r"1 weights are not finite: bert\.encoder\.layer\.1\.output\.dense\.weight"):
        pk.load_model(saved(tmp_path, network=network))
    with pytest.raises(ModelError, match="not finite"):
        load_encoder(str(tmp_path))


def test_a_training_does_not_go_on_from_what_does_not_fit(tmp_path):
    folder = tmp_path / "base"
    shutil.copytree(shipped_folder("zoo/bert-tiny"), folder)
    configured(folder, num_hidden_layers=1)
    (tmp_path / "text.txt").write_text("A sentence.\n")
    with pytest.raises(ModelError, match="no place for"):
        train_files(str(folder), [tmp_path / "text.txt"], tmp_path / "out", steps=1)


# Candidates


def asking(entities, gold=None):
    prompts = [{"prompt_id": n, "text": TEXT, "gold": [one]} for n, one in enumerate(gold or entities[:3])]
    return pk.Probe("mine", pd.DataFrame(prompts), entities)


WORDS = [f"{a} {b}" for a in ("town", "map", "gene", "flood") for b in ("maker", "north", "play", "old", "new")]
STRANGE = [chr(0x4E00 + number) for number in range(400)]  # which the vocabulary cannot write


@pytest.mark.parametrize(
    ("known", "strange", "outcome"),
    [(20, 20, ""), (20, 21, "warned"), (20, 180, "warned"), (20, 181, "refused"), (1, 5, "refused"), (1, 0, "warned")],
)
def test_candidates_that_are_mostly_unknown_are_warned_of_and_refused(caplog, known, strange, outcome):
    probe = asking([*WORDS[:known], *STRANGE[:strange]], WORDS[:1])
    if outcome == "refused":
        with pytest.raises(ModelError, match=f"tells {known} of the {known + strange} candidates apart"):
            pk.rank_entities(small("bert"), probe)
    else:
        assert len(pk.rank_entities(small("bert"), probe)) == 1
    assert len(said(caplog)) == (outcome == "warned")


def test_candidates_that_are_mostly_merged_are_refused(caplog):
    signs = [("T", "t"), ("O", "o"), ("W", "w"), ("N", "n")]
    written = ["".join(word) for word in itertools.product(*signs)]
    assert len(set(written)) == 16
    with pytest.raises(ModelError, match="tells 1 of the 16 candidates apart"):
        pk.rank_entities(small("distilbert"), asking(written))
    with pytest.raises(ModelError, match="tells 1 of the 16 candidates apart"):
        rank_within(small("distilbert"), asking(written), {"all": written})
    assert len(pk.rank_entities(small("distilbert"), asking([*written, *WORDS]))) == 3 and not said(caplog)


def test_candidates_without_a_token_are_warned_of(caplog):
    pk.rank_entities(small("distilbert"), asking([*WORDS, "\N{COMBINING ACUTE ACCENT}"], WORDS[:2]))
    (text,) = said(caplog)
    assert "1 candidates have no token at all" in text


@pytest.mark.parametrize(
    ("family", "sign", "told"),
    [("albert", "(", 1), ("bert", "(", 0), ("bert", "a", 1), ("roberta", "(", 0), ("roberta", "\n", 1)],
)
def test_a_slot_whose_candidates_would_join_the_sign_before_it_is_told(caplog, family, sign, told):
    texts = [f"He was {sign}[MASK] .", "In [MASK] .", "[MASK] is it ."]
    rows = {"prompt_id": [*"abc"], "text": texts, "gold": [["town"]] * 3}
    pk.rank_entities(small(family), pk.Probe("mine", pd.DataFrame(rows), [*WORDS, "town"]))
    assert ["in 1 distinct prompts the tokens of a candidate are not" in text for text in said(caplog)] == [True] * told


def test_a_tokenizer_that_fails_on_an_unknown_sign_is_refused(tmp_path):
    tokenizer = wordpiece(False)
    spec = json.loads(tokenizer.backend_tokenizer.to_str())
    spec["model"]["unk_token"] = "[ABSENT]"
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(spec)), **tokenizer.special_tokens_map
    )
    with pytest.raises(ModelError, match=r"fails on signs that it does not know \(WordPiece error"):
        check_tokenizer("m", "masked", small("bert").network, tokenizer)
