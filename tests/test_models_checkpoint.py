"""Checkpoints restore networks exactly and refuse what they are not, in one line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch

from models.checkpoint import (
    CheckpointError,
    load_checkpoint,
    load_policy,
    load_value,
    read_header,
    save_checkpoint,
)
from models.networks import PolicyNet, ValueNet


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    return save_checkpoint(tmp_path / "p.safetensors", PolicyNet(5, filters=4, layers=2), {"note": "små"})


def test_round_trip_is_exact(tmp_path: Path) -> None:
    for net in (PolicyNet(5, planes=20, filters=4, layers=3), ValueNet(5, filters=4, layers=2, hidden=8)):
        path = save_checkpoint(tmp_path / "sub" / f"{net.kind}.safetensors", net)
        again = load_checkpoint(path, net.kind, 5)
        assert not again.training
        for name, tensor in net.state_dict().items():
            assert torch.equal(again.state_dict()[name], tensor)
    assert load_value(path).hidden == 8


def test_channels_last_weights_round_trip(tmp_path: Path) -> None:
    net = PolicyNet(5, filters=4, layers=2).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    again = load_policy(save_checkpoint(tmp_path / "p.safetensors", net))
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), again.parameters(), strict=True))


def test_header_says_what_it_is(policy_file: Path) -> None:
    assert read_header(policy_file) == {
        "format": 1,
        "kind": "policy",
        "size": 5,
        "planes": 48,
        "filters": 4,
        "layers": 2,
        "extra": {"note": "små"},
    }


def test_nothing_but_the_checkpoint_is_left(policy_file: Path) -> None:
    assert [path.name for path in policy_file.parent.iterdir()] == ["p.safetensors"]


def test_refusals_are_one_clear_line(policy_file: Path, tmp_path: Path) -> None:
    with pytest.raises(
        CheckpointError, match=r"p.safetensors is a policy network, a value network is needed"
    ):
        load_value(policy_file)
    with pytest.raises(CheckpointError, match=r"p.safetensors is for a 5x5 board, not for 19x19"):
        load_policy(policy_file, size=19)
    with pytest.raises(CheckpointError, match=r"gone.safetensors: there is no such checkpoint"):
        load_checkpoint(tmp_path / "gone.safetensors")
    for content in (b"", b"(;GM[1]FF[4])", pickle.dumps({"a": 1}), policy_file.read_bytes()[:200]):
        bad = tmp_path / "bad.safetensors"
        bad.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"bad.safetensors is not a checkpoint") as caught:
            load_checkpoint(bad)
        assert "\n" not in str(caught.value)


def test_weights_that_do_not_fit_the_header(policy_file: Path, tmp_path: Path) -> None:
    content = policy_file.read_bytes().replace(b'\\"filters\\": 4', b'\\"filters\\": 5')
    changed = tmp_path / "changed.safetensors"
    changed.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"the weights do not fit the header") as caught:
        load_checkpoint(changed)
    assert "\n" not in str(caught.value)


def test_a_failed_write_leaves_the_old_file(policy_file: Path) -> None:
    before = policy_file.read_bytes()
    with pytest.raises(TypeError):
        save_checkpoint(policy_file, PolicyNet(5, filters=4, layers=2), {"not json": object()})
    assert policy_file.read_bytes() == before
    assert len(list(policy_file.parent.iterdir())) == 1
