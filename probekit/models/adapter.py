"""Adapters made elsewhere with the library peft: their base, what is refused of them, and how they are laid on it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from probekit.errors import ModelError, said
from probekit.files.reading import read_object
from probekit.models.fit import some
from probekit.models.kinds import out_of_memory
from probekit.models.shipped import CONFIG, TENSORS

OF_PEFT = "`is_gradient_checkpointing` is deprecated|The PEFT config's `base_model_name_or_path` was renamed"  # no news
TASKS = {"CAUSAL_LM": "causal", "SEQ_2_SEQ_LM": "seq2seq", "FEATURE_EXTRACTION": "encoder"}  # of peft -> kind


def base_of(folder: str) -> str:
    """The base of the adapter in a folder, with its revision where that is known; empty where none lies there.

    Raises:
        ModelError: its configuration is damaged or names no base.
    """
    if not os.path.isfile(place := os.path.join(folder, CONFIG)):
        return ""
    config = read_object(Path(place))
    base, revision = config.get("base_model_name_or_path"), config.get("revision")
    if not base or not isinstance(base, str):
        raise ModelError(f"{folder}: its {CONFIG} names no base: give the base as the model and this as its adapter")
    return f"{base}@{revision}" if revision and not os.path.isdir(base) else base


def check_adapter(folder: Path, kind: str) -> None:
    """Refuse an adapter that is not for a kind of model, or whose weights are not in safetensors.

    Raises:
        ModelError: another task than this kind's, or weights that are pickled or not there.
    """
    config = read_object(folder / CONFIG)
    if (task := config.get("task_type")) and TASKS.get(task) != kind:
        raise ModelError(f"{folder} is an adapter for the task {task}, and its base is asked as a {kind} model")
    if not (folder / TENSORS).is_file():
        pickled = "its weights are pickled, which could run code" * any(folder.glob("*.bin"))
        raise ModelError(f"{folder}: {pickled or 'it has no weights'}: only {TENSORS} is read")


def lay(folder: Path, network: Any, merge: bool) -> Any:
    """A network with an adapter, added to its weights so that a forward pass costs no more, or kept beside them.

    Raises:
        ModelError: peft is not there, cannot read or merge it; or it is for a network of other layers or shapes.
    """
    try:
        from peft import PeftConfig, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
    except ModuleNotFoundError as error:
        raise ModelError(f"the adapter {folder} needs the package peft: pip install 'probekit[large]'") from error
    from safetensors.torch import load_file

    try:
        config, tensors = PeftConfig.from_pretrained(str(folder)), load_file(folder / TENSORS)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", OF_PEFT)
            adapted = get_peft_model(network, config)
        config.base_model_name_or_path = config.revision = None  # where the base lay decides no result
        places = get_peft_model_state_dict(adapted, save_embedding_layers=False)
        theirs, ours = ({key: tuple(value.shape) for key, value in table.items()} for table in (tensors, places))
        if wrong := sorted(key for key in {*theirs, *ours} if theirs.get(key) != ours.get(key)):
            raise ModelError(
                f"{folder} is for another base than {network.name_or_path}, by the shapes of {some(wrong)}"
            )
        set_peft_model_state_dict(adapted, tensors)
        if not merge:
            return adapted.get_base_model()
        network = adapted.merge_and_unload()
    except Exception as error:  # peft raises whatever its readers and its layers raise
        if isinstance(error, ModelError) or out_of_memory(error):
            raise
        raise ModelError(f"{folder} cannot be laid on {network.name_or_path}: {said(error)}") from error
    vars(network).pop("peft_config", None)
    return network
