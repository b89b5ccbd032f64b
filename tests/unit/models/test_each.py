"""Models as a run names them: revisions, folders of registered names, what lacks its type; and what of many fails."""

import gc
import inspect
import json
import shutil
import weakref
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import torch
from conftest import saved, small

import probekit as pk
from probekit import run
from probekit.errors import ModelError, ProbeError, listen
from probekit.models import about
from probekit.models.loading import at_revision, find_model
from probekit.models.registry import registry
from probekit.run import Describe, answer
from probekit.run.answers import Asking, LeftOutError
from probekit.scoring.saliency import randomised

BLUEBERT = "bluebert-base-pm"


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


def test_what_finds_no_room_says_so(models, monkeypatch):
    folder = str(saved(models / "mine"))

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    for place in ("torch.nn.Module.to", "transformers.AutoModelForMaskedLM.from_pretrained"):
        with monkeypatch.context() as patched:
            patched.setattr(place, full)
            with pytest.raises(ModelError, match=r"does not fit into memory \(CUDA out of memory.*device_map"):
                pk.load_model(folder)


@dataclass(frozen=True, eq=False)
class Copy(Describe):
    """Asked of a copy with random weights."""

    layers: int | str | None = None
    copy_by = property(lambda self: () if self.layers is None else (self.layers,))

    def copy(self, model):
        return randomised(model, self.layers)


def kinds(names: list[str], of=lambda model: model.kind) -> list[Describe]:
    return [Describe(name, of) for name in names]


@pytest.mark.parametrize("kind", [one for one in vars(run).values() if isinstance(one, type) and hasattr(one, "makes")])
def test_a_question_holds_arguments_of_the_function_that_it_names(kind):
    own = [each.name for each in fields(kind) if each.name not in {each.name for each in fields(run.Question)}]
    signature = inspect.signature(kind.makes)
    assert own and signature.bind("model", **dict.fromkeys(own)).arguments.keys() > set(own)


def test_models_that_fail_are_named_and_the_others_go_on(models, tmp_path):
    good, broken, headless = saved(models / "good"), saved(models / "broken"), saved(models / "headless")
    (broken / "model.safetensors").write_bytes(b"no tensors")
    small("bert").network.base_model.save_pretrained(headless)
    messages, asking, noted = listen(), Asking({"device": "cpu", "dtype": "float32", "seed": 3}), []
    names = [str(broken), str(good), str(headless), "not-at-hand/model"]
    found = asking.ask(kinds(names), lambda model: noted.append(model.name))
    assert [(one.question.name, one.name, one.kind, one.result) for one in found] == [
        (str(good), "good", "masked", "masked")
    ]
    assert noted == [str(good)] and list(asking.failed) == [names[0], *names[2:]]
    assert asking.remaining(names) == [str(good)]
    assert [text.split(" could")[0] for text in messages.cautions] == ["broken", "headless", "not-at-hand/model"]
    assert not any(str(tmp_path) in text for text in messages.cautions)
    assert [one.result for one in asking.ask(kinds(names, lambda model: noted.append(model.name) or 1))] == [1]
    assert noted == [str(good)] * 2
    with pytest.raises(ModelError, match=r"no model could be asked. broken: .*; headless: .*lacks"):
        Asking({}).ask(kinds([names[0], names[2]]))
    with pytest.raises(ModelError, match="broken"):
        answer(kinds(names))


def test_what_fails_while_it_is_asked_is_the_models_or_ends_the_run(models):
    names = [str(saved(models / "bert")), str(saved(models / "roberta", "roberta"))]

    def fails(model):
        if model.name == names[0]:
            raise ModelError("one row does not fit into memory")
        return 1

    asking = Asking({})
    asked = [*kinds(names, lambda model: 0), *kinds(names, fails)]
    assert [one.result for one in asking.ask(asked)] == [0, 1] and list(asking.failed) == names[:1]

    def wrong(model):
        raise ProbeError("a line of the probe")

    with pytest.raises(ProbeError, match="a line of the probe"):
        Asking({}).ask(kinds(names, wrong))


def test_a_model_that_fails_late_is_in_nothing(models):
    names = [str(saved(models / name)) for name in ("one", "two")]
    forgotten = []

    def second(model):
        if model.name == names[1]:
            raise ModelError("no room")
        return model.name

    def compute():
        both = asking.ask(kinds(names)), asking.ask(kinds(names, second))
        return [[one.question.name for one in found] for found in both]

    asking = Asking({})
    with pytest.raises(LeftOutError, match="two failed after it had answered: no room"):
        compute()
    asking = Asking({})
    assert asking.settled(compute, lambda: forgotten.append(1)) == [[names[0]], [names[0]]] and forgotten == [1]


def test_one_model_is_in_memory_at_a_time_and_copies_beside_it(models):
    names = [str(saved(models / name)) for name in ("one", "two")]
    held = []

    def holds(model):
        held.append(weakref.ref(model.network))
        gc.collect()
        return len({id(network) for one in held if (network := one()) is not None}), model.name

    asked = [Copy(name, holds, layers=layers) for name in names for layers in (None, 0, 0, "all")]
    found = [one.result for one in Asking({}).ask(asked)]
    assert [count for count, _ in found] == [1, 2, 2, 2] * 2
    assert [name.partition(", ")[2] for _, name in found] == [
        "",
        "random head",
        "random head",
        "all weights random",
    ] * 2
