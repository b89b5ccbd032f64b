"""Tokens per batch: a constant on a CPU, half of the free memory on a GPU, found once for a network."""

import pytest
import torch
from conftest import small

from probekit.scoring import forward
from probekit.scoring.batches import BATCH_TOKENS
from probekit.scoring.memory import MOST_TIMES, device_budget

GPU = torch.device("cuda")


def no_run(tokens: int) -> None:
    raise AssertionError("a CPU needs no batch to try")


@pytest.mark.parametrize(
    ("free", "times"),
    [(10, 1), (2 * 7 * 2 - 1, 1), (2 * 7 * 2, 2), (2 * 7 * 2 + 12, 2), (2 * 7 * 4, 4), (10**9, MOST_TIMES)],
)
def test_half_of_the_free_memory_in_powers_of_two(monkeypatch, free, times):
    held, reserved, tried = 100, 130, []  # what torch keeps for itself beyond what is in use is free, too
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: None)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: held)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: held + 7)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free - (reserved - held), 10**12))
    assert device_budget(GPU, tried.append) == times * BATCH_TOKENS and tried == [BATCH_TOKENS]


def test_a_gpu_too_small_for_one_batch_takes_the_constant(monkeypatch):
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: None)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)

    def full(tokens: int) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    def broken(tokens: int) -> None:
        raise RuntimeError("shapes do not match")

    assert device_budget(GPU, full) == BATCH_TOKENS
    with pytest.raises(RuntimeError, match="shapes"):
        device_budget(GPU, broken)


def test_a_cpu_takes_the_constant():
    assert device_budget(torch.device("cpu"), no_run) == BATCH_TOKENS


def test_a_network_is_tried_once_with_as_many_masks_as_a_batch_may_hold(monkeypatch):
    model, sizes = small("bert"), []

    def budget(_device, run):
        logits = run(1024)
        sizes.append(len(logits))
        return 512

    monkeypatch.setattr(forward, "device_budget", budget)
    monkeypatch.setattr(forward, "_BUDGETS", {})
    assert forward._budget(model) == forward._budget(model) == 512
    length = min(128, model.max_tokens)
    assert sizes == [1024 // length * (length // 8)]
