"""Models shipped as adapters: merged as peft merges, tied to recipe and text, refused where a part is not their own."""

import hashlib
import json
import pickle
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
import torch
from conftest import configured, small
from safetensors.torch import load_file, save_file

import probekit as pk
from probekit import cli
from probekit.demo import adapters
from probekit.demo.training import architecture, recipe, trainer, vocabulary
from probekit.demo.training.own import train_files
from probekit.errors import ModelError, ProbeError
from probekit.models import about, loading, shipped
from probekit.probes import texts
from probekit.probes.texts import load_text
from probekit.report import fingerprint

WORDS = {
    "data": "Sentences of the demo world.",
    "use": "Tests.",
    "limits": "Knows nothing of ours.",
    "licence": {"demo-general.txt": "MIT"},
}
STEPS = 12
MADE = [  # name, what it goes on from, recipe
    ("untuned", "minilm", "untuned"),
    ("told", "lab/untuned", "adapter"),
    ("decoder", "decoder", ""),
    ("decoder-told", "lab/decoder", "facts-causal"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A report with two adapters, one on the other, for a small random encoder in a package, and with a decoder that is
    shipped whole and an adapter for it; and what was trained."""
    pytest.importorskip("peft")
    place = tmp_path_factory.mktemp("made")
    inside = place / "site" / "tiny_encoder" / "model"
    small("bert").network.bert.save_pretrained(inside)
    small("bert").tokenizer.save_pretrained(inside)
    (inside.parent / "__init__.py").touch()
    (place / "home" / "book").mkdir(parents=True)
    (place / "home" / "studies.yml").touch()
    text = place / "demo-general.txt"
    text.write_text("".join(f"{line}\n" for line in load_text("demo-general").sentences))
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, place)
        for name, base, given in MADE:
            train_files(base, [text], place / name, steps=STEPS, seed=1, recipe=given)
            adapters.ship(f"lab/{name}", place / name, WORDS)
    return place


def environment(patch: pytest.MonkeyPatch, place: Path) -> None:
    patch.setenv("PROBEKIT_HOME", str(place / "home"))
    patch.setenv("PROBEKIT_CACHE", str(place / "cache"))
    patch.syspath_prepend(str(place / "site"))
    patch.setitem(shipped.PACKAGED, "minilm", ("tiny_encoder", "model", "Apache-2.0"))


@pytest.fixture
def lab(made, tmp_path, monkeypatch):
    """A copy of that report, in which models can be changed; their folder."""
    for part in ("home", "site"):
        shutil.copytree(made / part, tmp_path / part)
    environment(monkeypatch, tmp_path)
    return tmp_path / "home" / "book" / "models"


@cache
def text_digest(load, kind: str) -> str:
    """SHA-256 of the file that `probekit text` writes."""
    return hashlib.sha256("".join(f"{line}\n" for line in load(kind).sentences).encode()).hexdigest()


def faults(name: str) -> list[str]:
    """What of a model in ``book/models`` no longer belongs together: its files, its recipe, or a text at hand."""
    made, lines = shipped.shipped(name), []
    record = json.loads((shipped.lab_folder(name) / shipped.RECORD).read_text())
    try:
        made.check()
    except ModelError as error:
        lines.append(str(error))
    chosen, settings = recipe.recipes().get(record["recipe"]), record["settings"]
    own = {"seed": settings["seed"], "epochs": settings["epochs"]}
    parts = [{**asdict(chosen.settings), **own}, chosen.adapter and asdict(chosen.adapter)] if chosen else []
    if parts != [settings, record.get("adapter")]:
        lines.append(f"{name} was trained by another recipe {record['recipe']}")
    if chosen and chosen.shape:
        config = json.loads((made.base / "config.json").read_text())
        fields = architecture._fields(chosen.shape, vocabulary.read_tokenizer(made.base))
        if {**config, **fields} != config:
            lines.append(f"{name} has another shape than its recipe {record['recipe']}")
    for text in record["texts"]:
        kind = text["name"].removesuffix(".txt")
        try:
            if text_digest(texts.load_text, kind) != text["sha256"]:
                lines.append(f"{name} read another text {text['name']}")
        except ProbeError:
            if kind not in texts.TEXTS:  # else its data are not at hand
                lines.append(f"{name} read {text['name']}, which `probekit text` does not make")
    return lines


def logits(network: torch.nn.Module) -> torch.Tensor:
    ids = torch.arange(5, 105).reshape(4, 25)
    with torch.inference_mode():
        return network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits


@pytest.mark.parametrize(("base", "told"), [("untuned", "told"), ("decoder", "decoder-told")])
def test_an_adapter_is_merged_as_peft_merges_it(made, lab, base, told):
    from peft import PeftModel

    network, after = pk.load_model(f"lab/{base}", "cpu").network, logits(pk.load_model(f"lab/{told}", "cpu").network)
    before = logits(network)
    assert (after - before).abs().max() > 1e-2
    theirs = PeftModel.from_pretrained(network, lab / told).merge_and_unload().eval()
    assert (logits(theirs) - after).abs().max() < 1e-5
    whole = PeftModel.from_pretrained(pk.load_model(f"lab/{base}", "cpu").network, made / told).merge_and_unload()
    rounded = (logits(whole.eval()) - after).abs().max()
    assert 0 < rounded < 1e-2 * (after - before).abs().max()


def test_the_first_adapter_is_for_the_frozen_encoder_and_brings_its_head(made, lab):
    from peft import PeftModel

    network, encoder = pk.load_model("lab/untuned", "cpu").network, small("bert").network.bert
    given = load_file(made / "untuned" / "head.safetensors")
    assert {key.partition(".")[0] for key in given} == {"cls"} and "cls.predictions.bias" in given
    assert torch.equal(network.get_input_embeddings().weight, encoder.get_input_embeddings().weight)
    assert network.get_output_embeddings().weight is network.get_input_embeddings().weight
    start = small("bert").network.__class__(encoder.config).eval()
    start.bert.load_state_dict(encoder.state_dict())
    start.load_state_dict(load_file(lab / "untuned" / "head.safetensors"), strict=False)
    theirs = PeftModel.from_pretrained(start, lab / "untuned").merge_and_unload().eval()
    assert (logits(theirs) - logits(network)).abs().max() < 1e-5
    assert all(
        value.dtype == torch.float16 for file in lab.rglob("*.safetensors") for value in load_file(file).values()
    )
    changed = load_file(lab / "untuned" / shipped.TENSORS)
    layers = {key.removeprefix(shipped.PREFIX).partition(".lora_")[0] for key in changed}
    linear = {name for name, layer in encoder.named_modules() if isinstance(layer, torch.nn.Linear)}
    assert layers == {f"bert.{name}" for name in linear}
    assert all(min(value.shape) == 8 for value in changed.values())


def test_a_shipped_model_has_a_name_a_card_a_licence_and_a_fingerprint_of_its_own(lab, capsys, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("asked the network"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setitem(sys.modules, "peft", None)  # not installed
    models = [pk.load_model(name, "cpu") for name in ("lab/untuned", "lab/told")]
    assert len({model.fingerprint for model in models}) == 2
    assert all(model.kind == "masked" and model.licence == "MIT, Apache-2.0" for model in models)
    assert about("lab/told").base == "lab/untuned" and about("lab/told").texts == ("demo-general.txt",)
    assert cli.main(["list", "models"]) == 0
    assert "\nlab/told " in (printed := capsys.readouterr().out) and "\nlab/untuned " in printed
    assert cli.main(["ask", "A [MASK].", "--model", "lab/told", "--top", "2"]) == 0
    remembered = pk.load_model("lab/told", "cpu")
    assert remembered.fingerprint == models[1].fingerprint and "network" not in remembered.__dict__
    with pytest.raises(ModelError, match=r"no model 'lab/tolt' in .*\(is 'lab/told' meant\?\).*lab/untuned"):
        pk.load_model("lab/tolt")
    monkeypatch.setattr(shipped, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"lab/told: .*pip install 'probekit\[minilm\]'"):
        pk.load_model("lab/told")


def test_half_precision_is_rounded_after_the_merge(lab):
    exact, half = (pk.load_model("lab/told", "cpu", dtype=dtype).network for dtype in ("float32", "bfloat16"))
    for key, value in exact.named_parameters():
        assert torch.equal(value.bfloat16(), half.get_parameter(key)), key


def test_an_encoder_may_keep_its_first_layers_alone(made, lab, tmp_path):
    text, whole = made / "demo-general.txt", small("bert").network.bert
    cut = tmp_path / "cut.yml"
    adapter = "{rank: 8, alpha: 16, head: true, layers: 1}"
    settings = "{epochs: 1, batch_tokens: 900, rate: 1.0e-3, warmup: 0.1, masked: 0.15, span: 1.5}"
    cut.write_text(f"cut:\n  settings: {settings}\n  adapter: {adapter}\n")
    given = train_files("minilm", [text], tmp_path / "one", steps=3, recipe=str(cut))
    adapters.ship("lab/one", given, WORDS)
    given = train_files("lab/one", [text], tmp_path / "one-told", steps=3, recipe="adapter")
    adapters.ship("lab/one-told", given, WORDS)
    for name in ("lab/one", "lab/one-told"):
        network = pk.load_model(name, "cpu").network
        assert len(network.bert.encoder.layer) == network.config.num_hidden_layers == 1
        norm = "attention.output.LayerNorm.weight"
        assert torch.equal(
            network.bert.encoder.layer[0].get_parameter(norm), whole.encoder.layer[0].get_parameter(norm)
        )
        assert len(pk.load_model(name, "cpu", read=False).outline.bert.encoder.layer) == 1
    assert len(whole.encoder.layer) == 2 == len(pk.load_model("lab/told", "cpu").network.bert.encoder.layer)
    record = lab / "one" / shipped.RECORD
    record.write_text(record.read_text().replace('"layers": 1', '"layers": 2'))
    with pytest.raises(ModelError, match=r"lab/one-told: one/training.json is not the file that its card names"):
        pk.load_model("lab/one-told")
    with pytest.raises(ModelError, match=r"lab/untuned keeps its layers; .*: minilm"):
        train_files("lab/untuned", [text], tmp_path / "no", steps=1, recipe=str(cut))
    cut.write_text(cut.read_text().replace("layers: 1", "layers: 9"))
    with pytest.raises(ModelError, match="minilm has 2 layers, of which 9 cannot be kept"):
        train_files("minilm", [text], tmp_path / "no", steps=1, recipe=str(cut))


def test_an_adapted_encoder_is_loaded_without_its_head(lab):
    model, encoder = pk.load_model("lab/told", "cpu"), loading.load_encoder("lab/told", "cpu")
    assert encoder.kind == "encoder"
    own = dict(model.network.bert.named_parameters())
    assert own and all(torch.equal(encoder.network.get_parameter(name), value) for name, value in own.items())


def test_recipe_text_and_adapter_belong_together(made, lab, tmp_path):
    assert [faults(name) for name in shipped.lab_names()] == [[] for _ in MADE]
    text = made / "demo-general.txt"
    adapters.ship("lab/untuned", train_files("minilm", [text], tmp_path / "other", steps=1, recipe="untuned"), WORDS)
    with pytest.raises(ModelError, match="told was trained on other weights than those of lab/untuned"):
        adapters.ship("lab/told", made / "told", WORDS)
    with pytest.raises(ModelError, match="lab/told: untuned/adapter_.* is not the file"):
        pk.load_model("lab/told")


@pytest.mark.parametrize("words", [{}, {"licence": {}}, {"licence": "MIT"}, {"limits": " "}], ids=str)
def test_nothing_is_shipped_without_its_words(made, lab, words):
    before = (lab / "told" / shipped.CARD).read_bytes()
    lacking = {key: value for key, value in (WORDS | words).items() if words}
    with pytest.raises(ModelError, match=r"told/card\.json lacks "):
        adapters.ship("lab/told", made / "told", lacking)
    assert (lab / "told" / shipped.CARD).read_bytes() == before


DECIDING = [
    "decoder-told/adapter_model.safetensors",
    *(f"decoder/{file}" for file in (*shipped.WHOLE, "training.json")),
    "told/adapter_model.safetensors",
    "told/adapter_config.json",
    "told/training.json",
    "untuned/adapter_model.safetensors",
    "untuned/adapter_config.json",
    "untuned/head.safetensors",
    *(f"minilm/{file}" for file in shipped.WHOLE[:3]),
]


@pytest.mark.parametrize("file", DECIDING)
def test_a_part_that_is_missing_or_another_is_named_and_nothing_is_loaded(lab, file):
    place, name = lab / file, "lab/decoder-told" if file.startswith("decoder") else "lab/told"
    if file.startswith("minilm"):  # the base, in a package
        place = lab.parents[2] / "site" / "tiny_encoder" / "model" / place.name
    model = pk.load_model(name, "cpu", read=False)
    data = place.read_bytes()
    other = data.replace(b"0", b"1", 1) + b"\n" if place.suffix == ".json" else data[:-1] + bytes([data[-1] ^ 1])
    place.write_bytes(other)
    with pytest.raises(ModelError, match=f"{name}: {file} is not the file that its card names"):
        _ = model.network
    with pytest.raises(ModelError, match=f"{name}: {file} is not the file that its card names"):
        pk.load_model(name)
    place.unlink()
    with pytest.raises(ModelError, match=f"{name}: .*{file.split('/')[1]}"):
        pk.load_model(name)


@pytest.mark.parametrize(
    ("name", "field", "value", "said"),
    [
        ("told", "licence", {}, "told/card.json lacks licence of demo-general.txt"),
        ("told", "licence", None, "told/card.json lacks licence of demo-general.txt"),
        ("told", "use", "", "told/card.json lacks use"),
        ("told", "files", None, "its card.json pins no files"),
        ("told", "files", {}, "its card.json has no SHA-256 of minilm/config.json.*: remove what is not the model's"),
        ("untuned", "licence", {}, "untuned/card.json lacks licence"),  # those of bases count
    ],
)
def test_a_card_without_its_notes_is_refused(lab, name, field, value, said):
    configured(lab / name, shipped.CARD, **{field: value})
    with pytest.raises(ModelError, match=f"lab/told: {said}"):
        pk.load_model("lab/told", read=False)


def test_a_damaged_record_or_a_lost_card_is_named(lab, capsys):
    configured(lab / "told", shipped.RECORD, texts=["a name alone"])
    with pytest.raises(ModelError, match=r"lab/told: told/card.json lacks the licence of what it read"):
        pk.load_model("lab/told", read=False)
    (lab / "told" / shipped.RECORD).write_text("{}")
    assert cli.main(["list", "models"]) == 0 and "lab/told" in capsys.readouterr().out
    (lab / "told" / shipped.CARD).unlink()
    with pytest.raises(ModelError, match=r"lab/told: .* has no card.json"):
        pk.load_model("lab/told", read=False)


def pinned_anew(lab: Path) -> None:
    """Let the card name the files as they are now."""
    files = {label: adapters.file_digest(path) for label, path in shipped.made_of("lab/told")[2].items()}
    configured(lab / "told", shipped.CARD, files=files)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"use_rslora": True}, "told is no plain LoRA adapter, see use_rslora"),
        ({"alpha_pattern": {"query": 2}}, "told is no plain LoRA adapter, see alpha_pattern"),
        ({"peft_type": "IA3"}, "told is no plain LoRA adapter, see peft_type"),
        ({"r": 0}, "told/adapter_config.json gives no rank above 0"),
        ({"lora_alpha": None}, "told/adapter_config.json gives no rank above 0"),
        ({"base_model_name_or_path": "lab/told"}, "lab/told is a base of itself"),
        ({"base_model_name_or_path": "bert-base"}, "no model 'bert-base' in"),
        ({"base_model_name_or_path": None}, "no model 'None' in"),
    ],
    ids=str,
)
def test_an_adapter_of_another_kind_or_base_is_refused(lab, values, said):
    configured(lab / "told", shipped.CONFIG, **values)
    if "base_model_name_or_path" not in values:
        pinned_anew(lab)
    with pytest.raises(ModelError, match=f"lab/told: {said}"):
        pk.load_model("lab/told")


def test_tensors_without_a_place_or_of_another_shape_are_refused(lab):
    place = lab / "told" / shipped.TENSORS
    tensors = load_file(place)
    key = next(key for key in tensors if key.endswith(shipped.DOWN))
    half = {k: v for k, v in tensors.items() if k != key.replace("lora_A", "lora_B")}
    for changed, said in (
        ({**tensors, "base_model.model.cls.bias": tensors[key].clone()}, "told has tensors without a place"),
        ({**tensors, key: tensors[key][:, :-1].contiguous()}, "no update of the shape of"),
        (
            {k.replace("layer.1.", "layer.9."): v for k, v in tensors.items()},
            "its network has no weight bert.encoder.layer.9",
        ),
        (half, "no update of the shape of"),
    ):
        save_file(changed, place)
        pinned_anew(lab)
        with pytest.raises(ModelError, match=f"lab/told: .*{said}"):
            pk.load_model("lab/told")


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("unpickled",)


def test_nothing_pickled_is_read(lab):
    for file in ("told/adapter_model.bin", "untuned/head.bin", "told/pytorch_model.bin"):
        (lab / file).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ModelError, match=f"has no SHA-256 of {file}"):
            pk.load_model("lab/told")
        (lab / file).unlink()
    (lab / "told" / shipped.TENSORS).rename(lab / "told" / "adapter_model.bin")
    with pytest.raises(ModelError, match=r"told/adapter_model.safetensors: missing"):
        pk.load_model("lab/told")


def test_a_head_that_nobody_brings_is_missed(lab):
    (lab / "untuned" / shipped.HEAD).unlink()
    pinned_anew(lab)
    with pytest.raises(ModelError, match="lab/told: neither it nor a base of it has head.safetensors"):
        pk.load_model("lab/told")


def test_a_shipped_model_needs_no_package_of_the_book():
    hidden = (
        "import sys\nsys.modules.update(dict.fromkeys(['sphinx', 'nbformat', 'jupytext', 'papermill', 'matplotlib']))\n"
    )
    asked = "import probekit\nassert probekit.load_model('lab/decoder', 'cpu').kind == 'causal'"
    done = subprocess.run([sys.executable, "-c", hidden + asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_small_model_is_shipped_whole_and_adapted(made, lab, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)  # not installed
    models = [pk.load_model(name, "cpu") for name in ("lab/decoder", "lab/decoder-told")]
    assert [model.kind for model in models] == ["causal", "causal"] and models[1].licence == "MIT"
    assert len({model.fingerprint for model in models}) == 2
    assert about("lab/decoder-told").base == "lab/decoder" and about("lab/decoder-told").family == "LLaMA"
    weights = lab / "decoder" / "model.safetensors"
    assert all(value.dtype == torch.float16 for value in load_file(weights).values())
    assert {*shipped.WHOLE} <= {path.name for path in weights.parent.iterdir()}
    changed = {key.partition(".lora_")[0] for key in load_file(lab / "decoder-told" / shipped.TENSORS)}
    linear = [name for name, layer in models[0].network.named_modules() if isinstance(layer, torch.nn.Linear)]
    assert changed == {f"{shipped.PREFIX}{name}" for name in linear if name != "lm_head"}
    assert cli.main(["list", "models"]) == 0
    assert re.search(r"\nlab/decoder-told +causal +unknown +comes with the report\n", capsys.readouterr().out)
    shape, count = recipe.recipes()["decoder"].shape, sum(value.numel() for value in models[0].network.parameters())
    full = count + (shape.vocabulary - len(models[0].tokenizer)) * shape.hidden  # of a text that fills the vocabulary
    assert 2 * full < 3_000_000  # bytes in float16


@pytest.mark.slow
def test_a_killed_training_goes_on_with_its_head(made, lab, tmp_path, monkeypatch):
    text, bar = made / "demo-general.txt", trainer.bar

    def killing(*given):
        shown, steps = bar(*given), iter(range(99))
        monkeypatch.setattr(shown, "update", lambda: next(steps) < 5 or pytest.exit("killed"))
        return shown

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "bar", killing)
        with pytest.raises(pytest.exit.Exception):
            train_files("minilm", [text], tmp_path / "out", steps=10, recipe="untuned")
    saved = sorted(trainer.checkpoints(tmp_path / "out").glob(f"*/checkpoint-*/{shipped.HEAD}"))
    assert [path.parent.name for path in saved] == ["checkpoint-4", "checkpoint-5"]
    before = load_file(saved[1])["cls.predictions.bias"]
    out = train_files("minilm", [text], tmp_path / "out", steps=10, recipe="untuned")
    after = load_file(out / shipped.HEAD)["cls.predictions.bias"]
    rest = 3.0e-3  # the sum of the rates of the last five steps
    assert 0 < (after - before).abs().max() < rest < before.abs().max()


def test_a_page_is_of_the_adapters_that_it_names(lab, monkeypatch):
    monkeypatch.setattr(fingerprint, "code", lambda *_: [])
    monkeypatch.setattr(fingerprint, "_inputs", lambda _: [])
    monkeypatch.setattr(fingerprint, "studies", lambda: {"page": {}})
    hashes = [fingerprint.page_hash("page", {"models": [name]}) for name in ("lab/told", "lab/untuned")]
    card = lab / "told" / shipped.CARD
    card.write_text(card.read_text().replace("Tests.", "Other."))
    again = [fingerprint.page_hash("page", {"models": [name]}) for name in ("lab/told", "lab/untuned")]
    assert again[0] != hashes[0] and again[1] == hashes[1]


def test_what_comes_with_the_report_belongs_together():
    try:
        found = [line for name in shipped.lab_names() for line in faults(name)]
    except ModelError as error:
        if "pip install" not in str(error):
            raise
        pytest.skip("the extra minilm is not installed")
    assert found == []


@pytest.mark.parametrize("name", ["told", "lab/", "lab/../told", "lab/a/b", "lab/.told", "lab/minilm"])
def test_a_shipped_model_has_a_plain_name(made, lab, name):
    with pytest.raises(ModelError, match="is called lab/NAME"):
        adapters.ship(name, made / "told", WORDS)


def test_a_folder_that_no_training_wrote_is_not_shipped(lab, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises((ModelError, ProbeError), match="training"):
        adapters.ship("lab/empty", tmp_path / "empty", WORDS)
    assert not (lab / "empty").exists()
