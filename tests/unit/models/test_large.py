"""What large models need: adapters, fewer bits, their own number format, little memory, and what only some may read."""

import json
import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import configured, saved, writer
from huggingface_hub.errors import GatedRepoError
from safetensors.torch import load_file, save_file

import probekit as pk
from probekit import cli
from probekit.errors import ModelError
from probekit.files import digest
from probekit.models import precision
from probekit.models.padding import MIXES
from probekit.models.precision import resolved
from probekit.run import Rank
from probekit.run.answers import Asking
from probekit.store import SCORERS

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture
def base(tmp_path, monkeypatch):
    """A folder with a causal model whose layers are wide enough for bitsandbytes, which rounds 64 numbers together."""
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    model = writer("llama", "own")
    config = deepcopy(model.network.config)  # the model is that of other tests, too
    config.update({"hidden_size": 64, "intermediate_size": 128, "head_dim": 16})
    torch.manual_seed(7)
    return saved(tmp_path / "base", replace(model, network=type(model.network)(config)))


def adapted(base: Path, task: str | None = "CAUSAL_LM", rank: int = 4, **how: object) -> Path:
    """A folder beside the base with a LoRA adapter for it that moves its scores."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(rank)
    network = pk.load_model(str(base), device="cpu").network
    about = LoraConfig(r=rank, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type=task, **how)
    get_peft_model(network, about).save_pretrained(base.parent / "adapter")
    return base.parent / "adapter"


def logits(model: pk.Model) -> torch.Tensor:
    ids = torch.arange(5, 35, device=model.network.device).reshape(2, 15)
    with torch.inference_mode():
        return model.network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.cpu()


@pytest.mark.parametrize("way", [{}, {"use_dora": True, "use_rslora": True, "bias": "all"}], ids=["plain", "dora"])
def test_an_adapter_in_a_folder_is_merged_as_peft_merges_it(base, way, recwarn):
    from peft import AutoPeftModelForCausalLM

    folder = adapted(base, **way)
    recwarn.clear()
    named, beside = pk.load_model(str(folder)), pk.load_model(str(base), adapter=str(folder))
    plain = pk.load_model(str(base))
    assert not [str(warning.message) for warning in recwarn]  # peft's words on what it does inside are no news
    theirs = AutoPeftModelForCausalLM.from_pretrained(folder, dtype=torch.float32).merge_and_unload().eval()
    assert (logits(named) - logits(SimpleNamespace(network=theirs))).abs().max() < 1e-5
    assert (logits(named) - logits(plain)).abs().max() > 1e-2
    assert named.name == str(folder) and named.kind == "causal"
    assert named.fingerprint == beside.fingerprint != plain.fingerprint
    again = pk.load_model(str(base), adapter=str(folder))
    assert again.fingerprint == named.fingerprint and "network" not in again.source.__dict__


def test_an_adapter_counts_by_its_bytes_and_not_by_where_it_lies(base, tmp_path):
    folder = adapted(base)
    known = pk.load_model(str(folder)).fingerprint
    configured(folder, "adapter_config.json", base_model_name_or_path=str(shutil.copytree(base, tmp_path / "moved")))
    assert pk.load_model(str(shutil.copytree(folder, tmp_path / "elsewhere"))).fingerprint == known
    tensors = load_file(folder / WEIGHTS)
    save_file({name: tensor * 1.5 for name, tensor in tensors.items()}, folder / WEIGHTS)
    assert pk.load_model(str(folder)).fingerprint != known


def wider(folder: Path) -> None:
    save_file({name: torch.zeros(8, 8) for name in load_file(folder / WEIGHTS)}, folder / WEIGHTS)


def lacking(folder: Path) -> None:
    save_file(dict(list(load_file(folder / WEIGHTS).items())[1:]), folder / WEIGHTS)


def pickled(folder: Path) -> None:
    torch.save(load_file(folder / WEIGHTS), folder / "adapter_model.bin")
    (folder / WEIGHTS).unlink()


def fields(**values: object):
    return lambda folder: configured(folder, "adapter_config.json", **values)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (wider, r"is for another base than .*, by the shapes of base_model\.model\.model\.layers\.0\.self_attn"),
        (lacking, r"is for another base than .*, by the shapes of base_model\.model\.model\.layers\.0\.self_attn"),
        (fields(target_modules=["query"]), "cannot be laid on"),
        (fields(task_type="SEQ_CLS"), "is an adapter for the task SEQ_CLS, and its base is asked as a causal model"),
        (fields(base_model_name_or_path=None), r"adapter_config\.json names no base: give the base as the model"),
        (fields(base_model_name_or_path="no/such"), r"adapter, an adapter of no/such: cannot load 'no/such'"),
        (fields(megatron_config={"a": 1}, megatron_core="antigravity"), "cannot be laid on"),
        (pickled, r"its weights are pickled, which could run code: only adapter_model\.safe"),
    ],
)
def test_what_is_no_adapter_of_the_base_is_refused_by_name(base, damage, said):
    damage(folder := adapted(base))
    with pytest.raises(ModelError, match=said):
        pk.load_model(str(folder))


def test_options_that_cannot_go_together_are_refused(base, monkeypatch):
    folder = str(adapted(base))
    with pytest.raises(ModelError, match="is an adapter itself: give its base beside"):
        pk.load_model(folder, adapter=folder)
    with pytest.raises(ModelError, match="quantization must be one of 8bit, 4bit, or empty, not '2bit'"):
        pk.load_model(str(base), quantization="2bit")
    of_weights = {"quantization": "4bit", "dtype": "bfloat16", "device_map": "auto", "adapter": "mine"}
    for option, value in (*of_weights.items(), ("device", "cuda")):
        with pytest.raises(ModelError, match=f"its server has the weights: leave {value} out"):
            pk.load_model("http://127.0.0.1:1/v1#a/b", **{option: value})
    with pytest.raises(ModelError, match=r"cannot load 'no/adapter'"):
        pk.load_model(str(base), adapter="no/adapter")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "peft", None)
        with pytest.raises(ModelError, match=r"needs the package peft: pip install 'probekit\[large\]'"):
            pk.load_model(folder)
    with pytest.raises(ModelError, match="give device='cpu' or device_map='auto', not both"):
        pk.load_model(str(base), device="cpu", device_map="auto")
    configured(base, quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(ModelError, match="its checkpoint is quantised already: leave quantization='4bit' out"):
        pk.load_model(str(base), quantization="4bit")


@pytest.mark.parametrize(
    ("option", "value", "package"), [("quantization", "4bit", "bitsandbytes"), ("device_map", "auto", "accelerate")]
)
def test_fewer_bits_and_several_devices_need_their_package(base, monkeypatch, option, value, package):
    monkeypatch.setattr("probekit.models.loading.find_spec", lambda name: None if name == package else name)
    said = rf"{option}='{value}' needs the package {package}: pip install 'probekit\[large\]'"
    with pytest.raises(ModelError, match=said):
        pk.load_model(str(base), **{option: value})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("bits", ["8bit", "4bit"])
def test_weights_in_fewer_bits_are_a_model_of_their_own(base, bits, dtype):
    pytest.importorskip("bitsandbytes")
    about = {"device": "cpu", "dtype": dtype}
    whole, model = pk.load_model(str(base), **about), pk.load_model(str(base), quantization=bits, **about)
    before, scores = model.fingerprint, logits(model)
    moved = (scores - logits(whole)).float().pow(2).mean().sqrt() / logits(whole).float().std()
    assert 1e-4 < moved < (0.1 if bits == "8bit" else 0.8)
    del model.__dict__["fingerprint"]
    assert model.fingerprint == before != whole.fingerprint  # also after a forward pass
    assert SCORERS[before] == {"device": "cpu", "dtype": f"{dtype}, {bits}"}
    again = pk.load_model(str(base), quantization=bits, **about)
    assert again.fingerprint == before and "network" not in again.source.__dict__
    probe = pk.load_probe("demo/template", limit=6)
    one, many = (pk.rank_entities(again, probe, batch_tokens=tokens)["score"] for tokens in (1, 4096))
    moves = 0.05 if bits == "8bit" or dtype == "bfloat16" else 1e-4  # of a score, with the texts of its batch
    assert ((one - many).abs() < moves * one.abs()).all()


def test_an_adapter_is_kept_beside_weights_in_fewer_bits(base):
    pytest.importorskip("bitsandbytes")
    folder = str(adapted(base))
    plain, model = (pk.load_model(name, quantization="4bit", dtype="float32") for name in (str(base), folder))
    near, far = (logits(model) - logits(pk.load_model(folder))).std(), (logits(model) - logits(plain)).std()
    assert near < far and model.fingerprint != plain.fingerprint
    moved = shutil.copytree(folder, base.parent / "elsewhere")
    assert pk.load_model(str(moved), quantization="4bit", dtype="float32").fingerprint == model.fingerprint


@pytest.mark.parametrize(
    ("dtype", "own", "count", "expected"),
    [
        ("auto", torch.bfloat16, 2.9e9, "float32"),
        ("auto", torch.bfloat16, 3.1e9, "bfloat16"),
        ("auto", torch.float16, 7e9, "float16"),
        ("auto", torch.float32, 7e9, "float32"),
        ("auto", torch.float64, 7e9, "float32"),
        ("auto", None, 7e9, "float32"),
        ("float32", torch.bfloat16, 7e9, "float32"),
        ("bfloat16", None, 1, "bfloat16"),
    ],
)
def test_the_format_of_a_checkpoint_is_taken_above_three_billion_parameters(dtype, own, count, expected):
    inner = SimpleNamespace(dtype=own)
    for config in (inner, SimpleNamespace(dtype=None, get_text_config=lambda: inner)):
        config.__dict__.setdefault("get_text_config", lambda: inner)
        assert resolved(dtype, config, lambda: count) == expected
    with pytest.raises(ModelError, match="dtype must be one of auto, float32, bfloat16, float16, not 'int8'"):
        resolved("int8", inner, lambda: 1)


def test_parameters_are_counted_without_weights(base, monkeypatch):
    pk.load_model(str(base), dtype="bfloat16").network.save_pretrained(base)
    count = sum(weight.numel() for weight in pk.load_model(str(base)).network.parameters())
    (base / "model.safetensors").write_bytes(b"no weights")  # whoever opens them fails
    for limit, expected in ((count, "float32"), (count - 1, "bfloat16")):
        monkeypatch.setattr(precision, "LARGE", limit)
        assert pk.load_model(str(base), read=False).dtype == expected


def test_what_was_scored_in_float32_is_found_by_default(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    folder = str(saved(tmp_path / "mine"))
    probe = pk.load_probe("demo/template", limit=6)
    question = Rank(folder, probe, tuple(probe.prompts["gold"]))
    (first,) = Asking({"dtype": "float32"}).ask([question])
    monkeypatch.setattr(torch.nn.Module, "__call__", lambda *_, **__: pytest.fail("asked again"))
    (again,) = Asking({"dtype": "auto", "quantization": "", "adapter": ""}).ask([question])
    assert again.result.equals(first.result)


def test_the_fingerprint_of_bfloat16_is_over_its_bytes_and_type(base):
    known = pk.load_model(str(base), dtype="bfloat16").fingerprint
    half = pk.load_model(str(base), dtype="bfloat16")

    def found() -> str:
        return pk.Model("mine", "causal", half.network, half.tokenizer).fingerprint

    assert found() == known and len(known.removesuffix(MIXES)) == len(digest("x"))
    half.network.to(torch.float32)
    assert found() != known  # the same numbers
    half.network.to(torch.bfloat16)
    assert found() == known
    with torch.no_grad():
        half.network.lm_head.weight.view(torch.int16)[0, 0] ^= 1  # the last bit of one number
    assert found() != known


MEMORY = """
import re, sys
from pathlib import Path
import probekit as pk

def peak():  # of this process; getrusage counts that of the one which started it, too
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

pk.load_model(sys.argv[2], device="cpu")
start = peak()
model = pk.load_model(sys.argv[1], device="cpu", dtype="bfloat16")
print(model.dtype, model.fingerprint, peak() - start)
"""


@pytest.mark.slow
def test_loading_takes_the_memory_of_the_weights_and_little_more(base):
    """1 GB of weights in bfloat16; the greatest resident size above that of a process that loaded a small model."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig.from_pretrained(base)
    config.update({"hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 10, "num_attention_heads": 16})
    config.update({"head_dim": 128, "num_key_value_heads": 16})
    large = shutil.copytree(base, base.parent / "large", ignore=shutil.ignore_patterns("*.safetensors"))
    before, _ = torch.get_default_dtype(), torch.set_default_dtype(torch.bfloat16)
    try:
        LlamaForCausalLM(config).save_pretrained(large, max_shard_size="300MB")
    finally:
        torch.set_default_dtype(before)
    size = sum(path.stat().st_size for path in large.glob("*.safetensors"))
    assert 0.9e9 < size < 1.3e9 and len(list(large.glob("*.safetensors"))) >= 3
    code = [sys.executable, "-c", MEMORY, str(large), str(base)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    dtype, _, peak = done.stdout.split()
    assert dtype == "bfloat16" and 1024 * int(peak) < size + 2**30, f"{size:,} of weights, {peak} KiB at most"


@pytest.mark.parametrize("adapter", [False, True])
def test_what_only_some_may_read_is_told_with_what_to_do(base, monkeypatch, adapter):
    advice = "Cannot access gated repo for url https://huggingface.co/a/b.\nAccess to model a/b is restricted."

    def gated(*_, **__):
        cause = GatedRepoError(advice, response=SimpleNamespace(headers={}, request=None))
        raise OSError(f"You are trying to access a gated repo.\nMake sure to have access to it.\n{cause}") from cause

    patched = "transformers.utils.cached_file" if adapter else "transformers.PreTrainedConfig.get_config_dict"
    monkeypatch.setattr(patched, gated)
    with pytest.raises(ModelError) as error:
        pk.load_model(str(base), adapter="a/b") if adapter else pk.load_model("a/b")
    line = str(error.value)
    assert "\n" not in line and "is gated: ask its owner" in line and "`hf auth login`" in line and "HF_TOKEN" in line
    assert "https://huggingface.co/a/b," in line and line.endswith("Access to model a/b is restricted.")


def test_the_commands_take_one_set_of_options(base, monkeypatch, capsys):
    folder, seen = str(adapted(base)), []
    monkeypatch.setattr("probekit.models.load_model", lambda *given, **how: seen.append((given, how)) or exit(3))
    with pytest.raises(SystemExit):
        cli.main(["ask", "It is [MASK].", "--model", str(base), "--adapter", folder, "--quantization", "4bit"])
    ((given, how),) = seen
    assert given == (str(base),) and how == {
        "device": "auto", "dtype": "auto", "device_map": "", "quantization": "4bit", "adapter": folder, "read": False
    }  # fmt: skip
    for command in (["ask", "x", "--model", "m"], ["compare", "m", "n"], ["card", "m"]):
        with pytest.raises(SystemExit):
            cli.main([*command, "--help"])
        said = capsys.readouterr().out
        assert all(f"--{name}" in said for name in ("dtype", "device", "device-map", "quantization", "adapter"))
    assert json.loads((Path(folder) / "adapter_config.json").read_text())["base_model_name_or_path"] == str(base)
