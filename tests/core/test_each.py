"""Models as a run names them: revisions, folders of registered names, what lacks its type; and what of many fails."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from conftest import small

import probekit as pk
from probekit.errors import ModelError, ProbeError, listen
from probekit.models import about
from probekit.models.each import Each, LeftOutError
from probekit.models.loading import at_revision, find_model
from probekit.models.registry import registry
from probekit.scoring import rank_entities

BLUEBERT = "bluebert-base-pm"


def saved(folder: Path, family: str = "bert") -> Path:
    model = small(family)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def models(tmp_path, monkeypatch) -> Path:
    """The cache's folder of models, and no others."""
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PROBEKIT_DATA", raising=False)
    return tmp_path / "cache" / "models"


def test_a_revision_follows_the_name(models):
    assert at_revision("roberta-base@main") == ("roberta-base", "main")
    assert at_revision("org/model@v1.0") == ("org/model", "v1.0") and at_revision("gpt2") == ("gpt2", None)
    assert find_model("roberta-base@main") == "FacebookAI/roberta-base"
    assert about("bio-clinicalbert@main").category == "biomedical fine-tuned"
    odd = saved(models.parent / "my@folder")
    assert at_revision(str(odd)) == (str(odd), None) and pk.load_model(str(odd)).revision is None
    with pytest.raises(ModelError, match=r"roberta-base@a names its revision: leave revision='b' out, or @a"):
        pk.load_model("roberta-base@a", revision="b")
    with pytest.raises(ModelError, match=r"@v1: .*lies in the folder .*, which has no revisions"):
        pk.load_model(f"{odd}@v1")


def test_a_revision_reaches_the_loader(models, monkeypatch):
    seen = []

    def refuse(source, **options):
        seen.append((source, options["revision"]))
        raise OSError("no network")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", refuse)
    monkeypatch.setattr("transformers.PreTrainedConfig.get_config_dict", lambda *_, **__: ({"model_type": "bert"}, {}))
    for name in ("org/model@v1", "gpt2@main", "gpt2"):
        with pytest.raises(ModelError, match="no network"):
            pk.load_model(name)
    assert seen == [("org/model", "v1"), ("openai-community/gpt2", "main"), ("openai-community/gpt2", None)]


def test_a_folder_in_place_of_a_registered_model_is_said(models):
    saved(models / "roberta-base", "roberta")
    saved(models / "roberta-base-pm", "roberta")  # which the Hub does not have
    messages = listen()
    pk.load_model("roberta-base")
    pk.load_model("roberta-base-pm")
    assert messages.cautions == [
        "roberta-base: a folder of that name in models/ was asked, and not FacebookAI/roberta-base on the Hub."
    ]


def test_a_configuration_without_its_type_has_that_of_the_registered_family(models):
    """As those of BlueBERT, which name neither type nor architecture and come without a tokenizer_config.json."""
    plain, lacking = saved(models / "plain"), saved(models / BLUEBERT)
    config = json.loads((lacking / "config.json").read_text())
    kept = {key: value for key, value in config.items() if key not in ("model_type", "architectures")}
    (lacking / "config.json").write_text(json.dumps(kept))
    model, same = pk.load_model(BLUEBERT), pk.load_model(str(plain))
    assert type(model.network) is type(same.network) and model.fingerprint == same.fingerprint
    shutil.copytree(lacking, models / "unknown")
    with pytest.raises(ModelError, match="model_type"):
        pk.load_model(str(models / "unknown"))


@pytest.mark.parametrize("entry", registry().values(), ids=list(registry()))
def test_every_registered_family_is_a_type(entry):
    from transformers import CONFIG_MAPPING

    assert entry.model_type in CONFIG_MAPPING


def test_several_devices_need_their_package(models, monkeypatch):
    folder = str(saved(models / "mine"))
    monkeypatch.setattr("probekit.models.loading.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"device_map='auto' needs the package accelerate: pip install 'probekit\[la"):
        pk.load_model(folder, device_map="auto")
    with pytest.raises(ModelError, match="give device='cpu' or device_map='auto', not both"):
        pk.load_model(folder, device="cpu", device_map="auto")


def test_another_precision_is_another_key(models):
    folder = str(saved(models / "mine"))
    whole, half = pk.load_model(folder), pk.load_model(folder, dtype="bfloat16")
    assert (whole.dtype, half.dtype) == ("float32", "bfloat16") and whole.fingerprint != half.fingerprint


def test_what_finds_no_room_says_so(models, monkeypatch):
    folder = str(saved(models / "mine"))

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    for place in ("torch.nn.Module.to", "transformers.AutoModelForMaskedLM.from_pretrained"):
        with monkeypatch.context() as patched:
            patched.setattr(place, full)
            with pytest.raises(ModelError, match=r"does not fit into memory \(CUDA out of memory.*device_map"):
                pk.load_model(folder)


def test_models_that_fail_are_named_and_the_others_go_on(models, tmp_path):
    good, broken, headless = saved(models / "good"), saved(models / "broken"), saved(models / "headless")
    (broken / "model.safetensors").write_bytes(b"no tensors")
    small("bert").network.base_model.save_pretrained(headless)
    messages, asking, seen = listen(), Each({"device": "cpu", "dtype": "float32", "seed": 3}), []
    names = [str(broken), str(good), str(headless), "not-at-hand/model"]
    assert asking.ask(names, lambda model: seen.append(model.name) or model.kind) == ["masked"]
    assert seen == [str(good)] and list(asking.failed) == [names[0], *names[2:]] and asking.left(names) == [str(good)]
    assert [text.split(" could")[0] for text in messages.cautions] == ["broken", "headless", "not-at-hand/model"]
    assert not any(str(tmp_path) in text for text in messages.cautions)
    asked = []
    assert asking.ask(names, lambda model: asked.append(model.name) or 1) == [1] and asked == [str(good)]
    with pytest.raises(ModelError, match=r"no model could be asked. broken: .*; headless: .*lacks"):
        Each({}).ask([names[0], names[2]], lambda model: 1)


def test_what_fails_while_it_is_asked_is_the_models_or_ends_the_run(models):
    names = [str(saved(models / "bert")), str(saved(models / "roberta", "roberta"))]
    probe = pk.load_probe("demo/template", limit=3)

    def fails(model):
        if model.name == names[0]:
            raise ModelError("one row does not fit into memory")
        return len(rank_entities(model, probe))

    asking = Each({})
    assert asking.ask(names, fails) == [len(probe.prompts)] and list(asking.failed) == names[:1]

    def wrong(model):
        raise ProbeError("a line of the probe")

    with pytest.raises(ProbeError, match="a line of the probe"):
        Each({}).ask(names, wrong)


def test_a_model_that_fails_late_is_in_nothing(models):
    names = [str(saved(models / name)) for name in ("one", "two")]
    asking, forgotten = Each({}), []

    def second(model):
        if model.name == names[1]:
            raise ModelError("no room")
        return model.name

    def compute():
        return asking.ask(names, lambda model: model.name), asking.ask(names, second)

    with pytest.raises(LeftOutError, match="two failed after it had answered: no room"):
        compute()
    asking = Each({})
    assert asking.settled(compute, lambda: forgotten.append(1)) == ([names[0]], [names[0]]) and forgotten == [1]
