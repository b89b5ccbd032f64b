"""Small random networks of every masked family, with vocabularies made here and, where at hand, the published ones;
a copy of the transcribed tables, for tests that change them."""

import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"  # as workers and kernels have: more would round the last bit of sums otherwise

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import hypothesis
import nbformat
import pandas as pd
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast

from probekit.demo.training.recipe import Family, Shape
from probekit.demo.training.vocabulary import train_tokenizer
from probekit.files import write_atomically
from probekit.models import Model
from probekit.probes import Probe
from probekit.report.outcomes import RANKS, Outcomes

hypothesis.settings.register_profile("probekit", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("probekit")

TEXT = [
    "The café in Zürich opened before the great flood of 1931 (see the map).",
    "Amyloid-β is encoded by the APP gene on chromosome 21, they said.",
    "Port Velna lies north of Upper Dramoton; its people speak Zagrish and Lomese.",
    "A skilled clock maker from Saint-Étienne was born in Río Negro.",
    "He played in the 'old town' / the new town, and never spoke of it again.",
] * 3
SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def _finish(inner: Tokenizer, names: dict[str, str]) -> PreTrainedTokenizerFast:
    start, end = names["cls_token"], names["sep_token"]
    pairs = [(token, inner.token_to_id(token)) for token in (start, end)]
    inner.post_processor = processors.TemplateProcessing(single=f"{start} $A {end}", special_tokens=pairs)
    return PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=128, **names)


def wordpiece(lowercase: bool) -> PreTrainedTokenizerFast:
    """BERT's kind: no mask stripping, accents dropped when lower-cased."""
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    inner.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=220, special_tokens=list(SPECIAL.values())))
    return _finish(inner, SPECIAL)


def byte_bpe() -> PreTrainedTokenizerFast:
    """RoBERTa's kind: a word's tokens depend on the space before it; the mask swallows that space."""
    names = {
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
    }
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, special=True)]
    inner.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=420, special_tokens=special, initial_alphabet=alphabet)
    )
    return _finish(inner, names)


def unigram() -> PreTrainedTokenizerFast:
    """ALBERT's kind: SentencePiece's own mark of a word's start."""
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = [*list(SPECIAL.values())[:-1], AddedToken("[MASK]", lstrip=True, special=True)]
    inner.train_from_iterator(TEXT, trainers.UnigramTrainer(vocab_size=180, special_tokens=special, unk_token="[UNK]"))
    return _finish(inner, SPECIAL)


OWN = {
    "bert": lambda: wordpiece(lowercase=False),
    "distilbert": lambda: wordpiece(lowercase=True),
    "electra": lambda: wordpiece(lowercase=True),
    "roberta": byte_bpe,
    "albert": unigram,
}
REAL = {
    "bert": ["bert-base-cased", "bert-base-uncased", "scibert_scivocab_uncased", "bert-base-chinese"],
    "distilbert": ["bert-base-uncased"],
    "electra": ["bert-base-uncased"],
    "roberta": ["roberta-base"],
    "albert": ["albert-base-v2"],
}
SHAPES = {  # small ones of every family that is trained here; their vocabularies are made by the package
    family: Shape(family, 32, 2, 4, 500, 128, 0.0) for family in get_args(Family)
}
NETWORKS = {
    "bert": ("BertConfig", "BertForMaskedLM"),
    "distilbert": ("DistilBertConfig", "DistilBertForMaskedLM"),
    "electra": ("ElectraConfig", "ElectraForMaskedLM"),
    "roberta": ("RobertaConfig", "RobertaForMaskedLM"),
    "albert": ("AlbertConfig", "AlbertForMaskedLM"),
}
REAL_DATA = Path(os.environ.get("PROBEKIT_DATA", "no data folder"))


def network(family: str, tokenizer: PreTrainedTokenizerFast, positions: int = 130) -> transformers.PreTrainedModel:
    """A random network of a family whose scores lie well apart."""
    config, kind = NETWORKS[family]
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    if family == "distilbert":
        sizes = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    torch.manual_seed(7)
    return getattr(transformers, kind)(
        getattr(transformers, config)(
            vocab_size=len(tokenizer),
            max_position_embeddings=positions,
            pad_token_id=tokenizer.pad_token_id,
            embedding_size=32,
            initializer_range=0.3,
            **sizes,
        )
    ).eval()


@cache
def small(family: str, vocabulary: str = "own") -> Model:
    """A random model of a family, with a vocabulary made here, by the package, or a published one."""
    if vocabulary == "own":
        tokenizer = OWN[family]()
    elif vocabulary == "zoo":
        tokenizer = train_tokenizer(SHAPES[family], TEXT)
    else:
        folder = REAL_DATA / "tokenizers" / vocabulary
        if not folder.is_dir():
            pytest.skip(f"the vocabulary {vocabulary} is looked for in PROBEKIT_DATA/tokenizers and is not there")
        tokenizer = AutoTokenizer.from_pretrained(folder)
    return Model(f"{family} ({vocabulary})", "masked", network(family, tokenizer), tokenizer)


def saved(folder: Path, model: Model | str = "bert") -> Path:
    """The folder, with a model, or the small one of a family, as a checkpoint."""
    made = small(model) if isinstance(model, str) else model
    made.network.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    return folder


def configured(folder: Path, name: str = "config.json", **values: object) -> None:
    """Set values in a file of a checkpoint."""
    (folder / name).write_text(json.dumps(json.loads((folder / name).read_text("utf-8")) | values))


SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
WIDE = {**SIZES, "max_position_embeddings": 130}
CAUSAL = {  # how every family counts positions: learned, learned from 2, rotations, ALiBi, with windows
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 130}),
    "opt": (transformers.OPTConfig, {**WIDE, "ffn_dim": 64, "word_embed_proj_dim": 16, "init_std": 0.3}),
    "llama": (transformers.LlamaConfig, {**WIDE, "num_key_value_heads": 2}),
    "gpt_neox": (transformers.GPTNeoXConfig, WIDE),
    "bloom": (transformers.BloomConfig, {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": (transformers.FalconConfig, {**WIDE, "alibi": True}),
    "mpt": (transformers.MptConfig, {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 130}),
    "mistral": (transformers.MistralConfig, {**WIDE, "num_key_value_heads": 2, "sliding_window": 4}),
    "gptj": (transformers.GPTJConfig, {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 130}),
}


def vocabulary(family: str, name: str) -> transformers.PreTrainedTokenizerFast:
    if name == "own":
        return byte_bpe()
    if name == "zoo":
        return train_tokenizer(SHAPES[family], TEXT)
    if not (REAL_DATA / name).is_dir():
        pytest.skip(f"the vocabulary {name} is looked for in PROBEKIT_DATA and is not there")
    return AutoTokenizer.from_pretrained(REAL_DATA / name)


@cache
def writer(family: str, name: str, seed: int = 7) -> Model:
    """A random network whose scores lie well apart."""
    tokenizer = vocabulary(family, name)
    common = {"vocab_size": len(tokenizer), "initializer_range": 0.3, "decoder_start_token_id": 0}
    common |= {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos")}
    torch.manual_seed(seed)
    if family == "t5":
        sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
        network = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes, **common))
    elif family == "bart":
        sizes = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in
                 {"layers": 2, "attention_heads": 4, "ffn_dim": 64}.items()}  # fmt: skip
        config = transformers.BartConfig(d_model=32, max_position_embeddings=130, init_std=0.3, **sizes, **common)
        network = transformers.BartForConditionalGeneration(config)
    else:
        config, sizes = CAUSAL[family]
        network = transformers.AutoModelForCausalLM.from_config(config(**sizes, **common))
    kind = "seq2seq" if family in ("t5", "bart") else "causal"
    return Model(f"{family} ({name})", kind, network.float().eval(), tokenizer)


def flat(model: Model) -> Model:
    """The same model with every score equal: nothing but ties."""
    network = type(model.network)(model.network.config).eval()
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    return Model("flat", model.kind, network, model.tokenizer)


HEADS = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_n_groups": 1}
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
LINEAR = {f"linear_{what}": n for what, n in [("key_head_dim", 8), ("value_head_dim", 8), ("num_key_heads", 2)]}
LINEAR |= {"linear_num_value_heads": 4, "shared_expert_intermediate_size": 16}
MIXED = ["linear_attention", "full_attention"]
JAMBA = {"num_experts": 2, "use_mamba_kernels": False, "mamba_d_state": 4, "mamba_dt_rank": 4}
SIDES = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
SIDES |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "init_std": 0.3}
UNSHARED = {  # that keep other things than keys and values of each token, or besides, or do not go on from them
    "minimax": ("MiniMax", {"layer_types": MIXED, "num_local_experts": 2, "block_size": 4}),
    "jamba": ("Jamba", {**JAMBA, "attn_layer_period": 2, "attn_layer_offset": 1}),
    "jamba, linear": ("Jamba", {**JAMBA, "attn_layer_period": 9, "attn_layer_offset": 8}),
    "bamba, linear": ("Bamba", {**HEADS, "attn_layer_indices": [], "mamba_chunk_size": 8}),
    "qwen3_next, linear": ("Qwen3Next", {**EXPERTS, **LINEAR, "layer_types": MIXED[:1] * 2}),
    "recurrent_gemma, linear": ("RecurrentGemma", {"lru_width": 32, "block_types": ["recurrent"] * 2}),
    "falcon_h1": ("FalconH1", {**HEADS, "mamba_d_ssm": 64}),
    "mamba": ("Mamba", {}),
    "openai-gpt": ("OpenAIGPT", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 130}),
    "switch": ("SwitchTransformers", {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}),
    "m2m_100, begins with padding": ("M2M100", {**SIDES, "decoder_start_token_id": 0}),
    "nllb-moe": ("NllbMoe", {**SIDES, "num_experts": 4, "encoder_sparse_step": 1, "decoder_sparse_step": 1}),
}


def unshared(family: str) -> Model:
    """A random network of which no cache can be shared; a new one at each call."""
    seq2seq = UNSHARED[family][0] in ("SwitchTransformers", "M2M100", "NllbMoe")
    tokenizer = writer("t5", "zoo").tokenizer if seq2seq else writer("gpt2", "own").tokenizer
    common = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos")}
    common |= {**WIDE, "head_dim": 8, "num_key_value_heads": 2, "initializer_range": 0.3, "decoder_start_token_id": 0}
    if family == "openai-gpt":
        del common["num_key_value_heads"], common["num_hidden_layers"]
    name, sizes = UNSHARED[family]
    config = getattr(transformers, f"{name}Config")(vocab_size=len(tokenizer), **{**common, **sizes})
    load = transformers.AutoModelForSeq2SeqLM if seq2seq else transformers.AutoModelForCausalLM
    torch.manual_seed(7)
    return Model(family, "seq2seq" if seq2seq else "causal", load.from_config(config).float().eval(), tokenizer)


MADE = [(family, name) for family in OWN for name in ("own", "zoo")]
PUBLISHED = [(family, name) for family, names in REAL.items() for name in names]


@pytest.fixture(
    params=[*MADE, *(pytest.param(case, marks=pytest.mark.slow) for case in PUBLISHED)], ids=lambda p: f"{p[0]}-{p[1]}"
)
def any_model(request: pytest.FixtureRequest) -> Model:
    """A masked model of each family with each kind of vocabulary; the published ones, larger, are slow."""
    return small(*request.param)


Values = dict[tuple[str, str], str]  # row and column of a transcribed table -> what is printed there


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the transcribed numbers, which the checks read."""
    folder = tmp_path / "book" / "published"
    shutil.copytree(Path(__file__).resolve().parents[1] / "book" / "published", folder)
    (tmp_path / "studies.yml").touch()
    monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
    return folder


def doctor(path: Path, values: Values) -> None:
    """Writes other values into a table of the copy."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for (row, column), value in values.items():
        chosen = (frame["row"] == row) & (frame["column"] == column)
        assert chosen.any(), (row, column)
        frame.loc[chosen, "value"] = value
    frame.to_csv(path, index=False)


HEAD = """# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes a page, without its head, the one page ``01_study`` of a report with a cache of its own; its folder."""

    def made(page: str, profiles: str = "{demo: }") -> Path:
        (tmp_path / "notebooks" / "first").mkdir(parents=True)
        (tmp_path / "notebooks" / "first" / "01_study.py").write_text(HEAD + page)
        (tmp_path / "studies.yml").write_text(f"01_study:\n  profiles: {profiles}\n")
        monkeypatch.setenv("PROBEKIT_HOME", str(tmp_path))
        monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
        return tmp_path

    return made


def executed_page(path: Path, *cells: str | list[dict[str, str]]) -> Path:
    """An executed notebook; a cell is a text, or a list of the data of its outputs."""
    notebook = nbformat.v4.new_notebook()
    for cell in cells:
        if isinstance(cell, str):
            notebook.cells.append(nbformat.v4.new_markdown_cell(cell))
        else:
            outputs = [nbformat.v4.new_output("display_data", data=data) for data in cell]
            notebook.cells.append(nbformat.v4.new_code_cell("secret = 1", outputs=outputs))
    nbformat.write(notebook, path)
    return path


HOSTILE = '<img src=x onerror=alert(1)>"`{raw}`'


@pytest.fixture
def run_folder(tmp_path):
    """A run of a page as its folder has it: two models, a probe of three prompts, one of them of hostile words."""
    folder = tmp_path / "my_run" / "12_accuracy"
    outcomes = Outcomes()
    for model, ranks in (("org/one", [1, 2, 12]), ("two", [4, 1, 1])):
        outcomes.add(
            "rank",
            pd.DataFrame(
                {
                    "model": model,
                    "probe": "mine",
                    "prompt_id": ["0", "1", "2"],
                    "fact_id": ["a", "a", "b"],
                    "relation": ["capital", "capital", None],
                    "asked": ["Lisbon is in [MASK].", "[MASK] holds Lisbon.", f"{HOSTILE} is [MASK]."],
                    "gold": [["Portugal"], ["Portugal"], [HOSTILE]],
                    "rank": ranks,
                    "score": [-1.0, -2.0, -3.0],
                    "candidates": 20,
                    "answers": [["Portugal" if rank == 1 else "Spain", HOSTILE] for rank in ranks],
                }
            ),
        )
    outcomes.write(folder / RANKS)
    manifest = {
        "study": "12_accuracy",
        "hash": "0123456789abcdef",
        "models": {
            "org/one": {"kind": "masked", "fingerprint": "f1", "score": "slot"},
            "two": {"kind": "causal", "revision": None, "score": "sum"},
        },
        "probes": {"mine": {"licence": "MIT", "prompts": 3, "counts": {}}},
        "versions": {"torch": "2"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    conclusions = "claim,dataset,model,estimate,low,high,verdict\n001-18,mine,two,0.25,0.1,0.5,agrees\n"
    (folder / "conclusions.csv").write_text(conclusions)
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, named in PROBEKIT_DATA."""
    monkeypatch.setenv("PROBEKIT_DATA", str(tmp_path))
    return tmp_path


def by_id(probe: Probe, column: str) -> dict:
    """A column of a probe by the ids of its prompts."""
    return dict(zip(probe.prompts["prompt_id"], probe.prompts[column], strict=True))


def lacks(*folders: str) -> pytest.MarkDecorator:
    """Skip a test of published data where PROBEKIT_DATA names no folder that holds them."""
    there = all((REAL_DATA / name).exists() for name in folders)
    return pytest.mark.skipif(not there, reason=f"needs public data: PROBEKIT_DATA names no folder with {folders}")


def pubmed_record(pmid: object, *sections: str, day: str = "2022-03-04", article: str = "", more: str = "") -> str:
    """A ``MedlineCitation``; ``article`` and ``more`` are added inside its article, and after it."""
    parts = zip(("Year", "Month", "Day"), day.split("-"), strict=True) if day else ()
    date = "".join(f"<{name}>{part}</{name}>" for name, part in parts)
    texts = "".join(f"<AbstractText>{text}</AbstractText>" for text in sections)
    inside = f"<ArticleTitle>On {pmid}.</ArticleTitle>" + (f"<Abstract>{texts}</Abstract>" if texts else "") + article
    created = f"<DateCreated>{date}</DateCreated>" if date else ""
    return f"<MedlineCitation><PMID>{pmid}</PMID>{created}<Article>{inside}</Article>{more}</MedlineCitation>\n"


def pubmed_xml(*records: str, root: str = "MedlineCitationSet", before: str = "") -> str:
    """A file of PubMed's records."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{before}<{root}>\n{"".join(records)}</{root}>\n'


def write_lines(path: Path, *rows: object) -> Path:
    """A file with a row a line, those that are no text in JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def google_row(
    uuid: str, person: str, obj: str, *sentences: str, votes: str = "yy", pred: str = "place_of_birth"
) -> dict:
    """A row as Google-RE has it; ``votes`` is one letter a rater: y(es), n(o), s(kip)."""
    words = {"y": "yes", "n": "no", "s": "skip"}
    return {
        "pred": f"/people/person/{pred}",
        "sub": f"/m/{person}",
        "sub_label": person,
        "obj_label": obj,
        "uuid": uuid,
        "evidences": [{"url": "", "snippet": "not to be read"}],
        "judgments": [{"rater": str(i), "judgment": words[vote]} for i, vote in enumerate(votes)],
        "masked_sentences": list(sentences),
    }


def trex_row(uuid: str, subject: str, obj: str, *evidences: tuple[str, str], relation: str = "P19") -> dict:
    """A row as T-REx has it; an evidence is a sentence and the surface form that its mask hides."""
    return {
        "uuid": uuid,
        "sub_uri": f"Q-{subject}",
        "sub_label": subject,
        "obj_uri": f"Q-{obj}",
        "obj_label": obj,
        "predicate_id": relation,
        "evidences": [{"sub_surface": subject, "obj_surface": o, "masked_sentence": s} for s, o in evidences],
    }


@pytest.fixture(scope="module")  # while it runs, no other test can run a loop of its own
def browser() -> Iterator[Any]:
    """A Chromium of the system, for all tests of pages."""
    from playwright.sync_api import sync_playwright

    from tests.browser.visit import lacking
    from tools.pdf import chromium

    if (program := chromium()) is None:
        lacking("no Chromium here: install one, such as Debian's package `chromium`")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])  # it reads our pages alone
        yield opened
        opened.close()


FAULTS = ["Fault", "What ran", "Tried", "Struck", "As it should", "What should come of it", "What was seen"]


@pytest.fixture(scope="session")
def note() -> Iterator[Callable[..., None]]:
    """Notes a case for the book's table of faults, and fails if something was wrong with its outcome."""
    cases = []

    def note(fault: str, ran: str, due: str, wrong: str, struck: bool = True, seen: str = "") -> None:
        cases.append((fault, ran, 1, struck, not wrong, due, seen))
        assert not wrong, f"{fault}, {ran}: {wrong}"

    yield note
    if out := os.environ.get("FAULT_TABLE"):
        rows = pd.DataFrame(cases, columns=FAULTS).groupby(["Fault", "What ran"], sort=False, as_index=False)
        table = rows.agg({**dict.fromkeys(FAULTS[2:5], "sum"), FAULTS[5]: "first", FAULTS[6]: "max"})
        write_atomically(Path(out), table.to_csv(index=False).encode())
