"""The small models: what they are made of, how they are trained anew, and that the shipped weights belong to both."""

import json
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import probekit as pk
from probekit.cli import main
from probekit.demo import retrain, shipped, zoo
from probekit.demo.training import recipe
from probekit.demo.training.corpus import text_of
from probekit.errors import ModelError, StoreError
from probekit.files import processes
from probekit.models import about, registry
from probekit.models.loading import find_model
from probekit.probes.texts import load_text

TINY, THEN = zoo.ZOO["zoo/bert-tiny"], zoo.ZOO["zoo/bert-tiny-then-bio"]


@pytest.fixture
def brief(monkeypatch, tmp_path) -> Path:
    """The zoo with recipes of a few steps, and a cache of its own."""
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    shape = recipe.Shape("bert", 16, 1, 2, 300, 96, 0.0)
    tiny = recipe.Recipe("bert-tiny", recipe.Settings(1, 1024, 1e-3, 0.1, 0.3, 1.5), shape)
    onward = replace(tiny, name="bert-tiny-onward", shape=None)
    monkeypatch.setattr(zoo, "recipes", lambda: {one.name: one for one in (tiny, onward)})
    text = zoo.text_read(TINY)
    monkeypatch.setattr(retrain, "text_read", lambda _: text_of(text.name, list(text.lines)[:200], text.names))
    return tmp_path / "cache"


@pytest.fixture
def weights(tmp_path, monkeypatch) -> Path:
    """A folder of shipped weights that is not there yet."""
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path / "weights")
    return tmp_path / "weights"


@pytest.fixture
def trained(tmp_path) -> Path:
    """A folder as a training leaves it, its weights in float32."""
    folder = tmp_path / "trained"
    shutil.copytree(shipped.shipped_folder("zoo/bert-tiny-zh"), folder)
    exact = {key: value.float() * 1.001 for key, value in load_file(folder / shipped.TENSORS).items()}
    save_file(exact, folder / shipped.TENSORS)
    return folder


def test_the_recipes_of_the_project_can_be_read():
    named = {"bert-mini", "bert-micro", "decoder", "onward", "adapter", "facts", "facts-causal", "untuned"}
    named |= {"untuned-2", "untuned-3", "untuned-4"}
    assert named | {member.recipe for member in zoo.ZOO.values()} == set(recipe.recipes())


def test_the_categories_of_the_zoo_are_those_of_the_registry():
    assert {member.category for member in zoo.ZOO.values()} == {entry.category for entry in registry().values()}


def test_seeds_and_epochs_stand_in_the_names():
    for name, member in zoo.ZOO.items():
        wanted = re.fullmatch(r"zoo/[a-z0-9-]+?(?:-s(\d+))?(?:-e(\d+))?", name).groups()
        assert (member.seed, member.epochs) == (int(wanted[0] or 0), int(wanted[1]) if wanted[1] else None), name
    assert zoo.ZOO["zoo/bert-tiny-then-bio-s2"].base == "zoo/bert-tiny-s2"
    assert zoo.recipe_of(zoo.ZOO["zoo/bert-tiny-s1"]).settings == replace(zoo.recipe_of(TINY).settings, seed=1)
    assert zoo.recipe_of(zoo.ZOO["zoo/bert-tiny-e3"]).settings == replace(zoo.recipe_of(TINY).settings, epochs=3)


# Trained anew


@pytest.mark.slow
def test_a_training_is_made_once_and_its_folder_depends_on_epochs_and_seed(brief, monkeypatch):
    folder = retrain.trained_folder("zoo/bert-tiny", TINY)
    then = retrain.trained_folder("zoo/bert-tiny-then-bio", THEN)
    table = json.loads((then / "training.json").read_text())
    assert table["base"] == "zoo/bert-tiny" and table["category"] == "biomedical fine-tuned"
    assert pk.load_model(str(then)).tokenizer.get_vocab() == pk.load_model(str(folder)).tokenizer.get_vocab()
    longer = retrain.grown_folder("zoo/bert-tiny", epochs=2)
    seeded = retrain.trained_folder("zoo/bert-tiny-s1", zoo.ZOO["zoo/bert-tiny-s1"])
    assert len({folder, longer, seeded}) == 3
    steps = [json.loads((f / "training.json").read_text())["steps"] for f in (folder, longer)]
    assert steps[1] == pytest.approx(2 * steps[0], abs=2)
    monkeypatch.setattr(retrain, "train", lambda *_: pytest.fail("trained twice"))
    assert retrain.trained_folder("zoo/bert-tiny", TINY) == folder
    assert retrain.train_zoo([]) == []


def test_a_training_that_fails_leaves_no_folder(brief, monkeypatch):
    def fails(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("probekit.demo.training.trainer._record", fails)
        with pytest.raises(KeyboardInterrupt):
            retrain.trained_folder("zoo/bert-tiny", TINY)
    assert [p.name for p in (brief / "zoo").iterdir() if not p.name.startswith(".")] == []
    assert retrain.trained_folder("zoo/bert-tiny", TINY).is_dir()


def test_the_command_names_what_it_does_not_know(capsys):
    assert main(["zoo", "zoo/bert-huge"]) == 1
    assert "no model 'zoo/bert-huge' in the zoo" in capsys.readouterr().err


@pytest.mark.slow
def test_models_that_train_side_by_side_draw_no_bars():
    with ProcessPoolExecutor(1, get_context("spawn"), processes._begin, (None,)) as pool:
        assert pool.submit(eval, "__import__('tqdm.auto').auto.tqdm(range(1)).disable").result() is True


def test_the_course_of_a_shipped_number_of_epochs_is_not_trained_again(monkeypatch):
    monkeypatch.setattr(retrain, "train", lambda *_: pytest.fail("trained"))
    for epochs, name in ((None, "bert-tiny"), (3, "bert-tiny-e3"), (10, "bert-tiny-e10")):
        folder = retrain.grown_folder("zoo/bert-tiny", epochs)
        assert folder == shipped.WEIGHTS / name
        assert json.loads((folder / "training.json").read_text())["settings"]["epochs"] == (epochs or 30)


# Shipped


def test_what_is_shipped_belongs_to_recipe_text_and_names():
    listed = shipped.manifest()
    assert list(listed) == [name for name in zoo.ZOO if name in listed]
    assert {path.name for path in shipped.WEIGHTS.iterdir()} == {shipped.MANIFEST, *(name[4:] for name in listed)}
    for name, entry in listed.items():
        assert entry["made_of"] == zoo.ingredients(zoo.ZOO[name]), f"{name}: train it anew with `make zoo`"
        assert entry["files"] == shipped._hashes(shipped.shipped_folder(name)), name


def test_all_that_the_pages_ask_is_shipped():
    root = Path(__file__).resolve().parents[3]
    sources = [root / "studies.yml", *(root / "notebooks").rglob("*.py")]
    words = {word for path in sources for word in re.findall(r"zoo/[\w-]+", path.read_text("utf-8"))}
    assert "zoo/bert-tiny" in words and words <= set(shipped.manifest())


@pytest.mark.parametrize("part", ["recipe", "text", "names", "training code", "base"])
def test_a_change_of_any_ingredient_is_seen(part, monkeypatch):
    before = zoo.ingredients(THEN)
    if part == "recipe":
        changed = {key: replace(one, settings=replace(one.settings, rate=0.1)) for key, one in recipe.recipes().items()}
        monkeypatch.setattr(zoo, "recipes", lambda: changed)
    elif part in ("text", "names"):
        text = zoo.load_text("demo-biomedical")
        change = {"sentences": text.sentences[1:]} if part == "text" else {"names": text.names[1:]}
        monkeypatch.setattr(
            zoo, "load_text", lambda name: replace(text, **change) if "bio" in name else load_text(name)
        )
    elif part == "training code":
        monkeypatch.setattr(zoo, "VERSION", zoo.VERSION + 1)
    else:
        monkeypatch.setitem(zoo.ZOO, "zoo/bert-tiny", replace(TINY, seed=5))
    after = zoo.ingredients(THEN)
    of_base = {"base"} if part in ("recipe", "training code") else set()
    assert {name for name in before if before[name] != after[name]} == {part, *of_base}


def test_shipping_rounds_to_float16_and_lists_the_files(trained, weights):
    for name in ("zoo/bert-tiny-zh", "zoo/bert-tiny"):
        assert shipped.manifest().get(name) is None
        out = shipped.ship(name, trained)
        assert shipped.manifest()[name] == {"made_of": zoo.ingredients(zoo.ZOO[name]), "files": shipped._hashes(out)}
    assert list(shipped.manifest()) == ["zoo/bert-tiny", "zoo/bert-tiny-zh"]  # in the order of the zoo
    first = (weights / "bert-tiny" / shipped.TENSORS).read_bytes()
    out = shipped.ship("zoo/bert-tiny", trained)
    assert (out / shipped.TENSORS).read_bytes() == first
    exact, rounded = load_file(trained / shipped.TENSORS), load_file(out / shipped.TENSORS)
    assert all(torch.equal(exact[key].half(), rounded[key]) for key in exact) and set(exact) == set(rounded)
    assert {p.name for p in out.iterdir()} == {p.name for p in trained.iterdir()}
    assert sorted(p.name for p in weights.iterdir()) == ["bert-tiny", "bert-tiny-zh", "manifest.json"]


def test_weights_that_float16_cannot_hold_are_refused(trained, weights):
    save_file({"a": torch.tensor([1e6]), "b": torch.zeros(1)}, trained / shipped.TENSORS)
    with pytest.raises(ModelError, match="zoo/bert-tiny: a cannot be held in float16"):
        shipped.ship("zoo/bert-tiny", trained)
    assert not weights.exists()


def test_a_folder_that_cannot_be_written_is_an_error_of_ours(trained, weights):
    weights.touch()
    with pytest.raises(StoreError, match="cannot write"):
        shipped.ship("zoo/bert-tiny", trained)


# Loaded


def test_shipped_weights_are_loaded_as_float32_and_nothing_is_trained(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    model = pk.load_model("zoo/bert-tiny")
    assert model.name == "zoo/bert-tiny" and model.dtype == "float32"
    assert {p.dtype for p in model.network.parameters()} == {torch.float32}
    on_disk = load_file(shipped.WEIGHTS / "bert-tiny" / shipped.TENSORS)
    assert {tensor.dtype for tensor in on_disk.values()} == {torch.float16}
    state = model.network.state_dict()
    assert all(torch.equal(state[key], tensor.float()) for key, tensor in on_disk.items())
    ranks = pk.rank_entities(model, pk.load_probe("demo/natural", limit=20))
    assert ranks["score"].map(lambda score: score != float(torch.tensor(score).half())).any()  # computed in float32
    assert [path.name for path in tmp_path.iterdir()] == ["fingerprints"]


@pytest.mark.parametrize("name", list(shipped.manifest()))
def test_every_shipped_model_loads_whole_and_is_described(name):
    model, card, member = pk.load_model(name), about(name), zoo.ZOO[name]
    assert model.dtype == "float32" and all(p.isfinite().all() for p in model.network.parameters())
    assert (card.category, card.base) == (member.category, member.base)
    assert card.texts == (member.text or f"demo-{member.domain}",)
    table = json.loads((Path(find_model(name)) / "training.json").read_text())
    assert table["settings"]["seed"] == member.seed
    assert card.parameters == round(sum(p.numel() for p in model.network.parameters()) / 1e6, 3)


def test_a_model_that_is_not_shipped_says_how_to_train_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    name = "zoo/bert-tiny-s9"
    monkeypatch.setitem(zoo.ZOO, name, replace(TINY, seed=9))
    with pytest.raises(ModelError, match=f"{name} does not come with the package; train it with `probekit zoo {name}`"):
        pk.load_model(name)
    made = zoo.cached_folder(name, zoo.ZOO[name])
    made.mkdir(parents=True)
    assert find_model(name) == str(made) and find_model("zoo/bert-tiny") == str(shipped.WEIGHTS / "bert-tiny")
    with pytest.raises(ModelError, match="no model 'zoo/bert-huge' in the zoo, and no such folder; there are zoo/bert"):
        pk.load_model("zoo/bert-huge")


def test_a_folder_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(shipped.WEIGHTS / "bert-tiny-zh", tmp_path / "zoo" / "mine")
    assert pk.load_model("zoo/mine").fingerprint == pk.load_model("zoo/bert-tiny-zh").fingerprint


def test_the_list_says_what_comes_with_the_package(capsys):
    assert main(["list", "models"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.startswith("zoo/")}
    assert list(lines) == list(zoo.ZOO)
    for name, line in lines.items():
        assert line.endswith("comes with the package" if name in shipped.manifest() else f"`probekit zoo {name}`")
