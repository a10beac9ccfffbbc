"""Several processes that train one network together, started by torchrun; one process needs none of this.

Each takes its share of every batch and the gradients are averaged, so that the result is that of one process
with the whole batch (up to the order in which numbers are added).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist

from tasks.errors import UserError


def world() -> int:
    """Number of processes; 1 without a process group."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """This process's number, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def leads() -> bool:
    """Whether this process is the one that writes and reports."""
    return rank() == 0


@contextmanager
def process_group() -> Iterator[None]:
    """Join the processes that torchrun started, if it did: NCCL with GPUs, else gloo."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield
        return
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def any_process(flag: bool, device: torch.device) -> bool:
    """Whether the flag is set in any process; all must call this together."""
    if world() == 1:
        return flag
    flags = torch.tensor(int(flag), device=device)
    dist.all_reduce(flags, dist.ReduceOp.MAX)
    return bool(flags.item())


def pick_device(wanted: str) -> torch.device:
    """auto, cpu or cuda -> this process's device. Raises UserError when there is no GPU for `cuda`."""
    if wanted == "cpu" or (wanted == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise UserError("compute.device is cuda, but torch sees no GPU")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


def thread_count(wanted: int) -> int:
    """Threads for torch in this process; 0 shares the cores evenly among the processes of this machine."""
    if wanted:
        return wanted
    allowed = getattr(os, "sched_getaffinity", None)  # Linux alone knows what a container may use
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return max(1, cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


@contextmanager
def torch_threads(wanted: int) -> Iterator[None]:
    """Let torch compute with so many threads for a while (0: see `thread_count`)."""
    before = torch.get_num_threads()
    torch.set_num_threads(thread_count(wanted))
    try:
        yield
    finally:
        torch.set_num_threads(before)
