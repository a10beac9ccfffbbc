"""Stage 4: the REINFORCE gradient, the pool, exact resumption, and that playing strength really grows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.checkpoint import load_policy, read_header, save_checkpoint
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.networks import PolicyNet, ValueNet
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.match import Match, play_match
from tasks.opponent_pool import OpponentPool
from tasks.params import LayoutParams, TrainRlPolicyParams
from tasks.reinforce import Recorder, Replay, accumulate_gradient, baseline, masked_log_probabilities
from tasks.reporting import NullReporter
from tasks.self_play import Seat, game_seeds
from tasks.train_rl_policy import run_train_rl_policy

SIZE = 5
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small_net(seed: int = 0) -> PolicyNet:
    torch.manual_seed(seed)
    return PolicyNet(SIZE, filters=8, layers=2)


@pytest.fixture
def start(tmp_path: Path) -> Path:
    return save_checkpoint(tmp_path / "sl-policy.safetensors", small_net())


def small_params(**changes: Any) -> TrainRlPolicyParams:
    values: dict[str, Any] = {
        "board_size": SIZE,
        "threads": 1,
        "komi": 0.5,
        "iterations": 6,
        "games": 8,
        "learning_rate": 0.01,
        "pool_every": 2,
        "network_batch": 16,
        "evaluate_every": 3,
        "evaluation_games": 10,
        "checkpoint_every": 2,
    }
    return TrainRlPolicyParams(**(values | changes))


def weights(path: Path) -> dict[str, torch.Tensor]:
    return load_policy(path).state_dict()


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


def recorded_games(net: PolicyNet, games: int = 6) -> tuple[Match, Replay]:
    recorder = Recorder(SIZE)
    seat = Seat(PolicyEvaluator(net))
    match = play_match(seat, seat, game_seeds(0, count=games), SIZE, 0.5, 16, on_turn=recorder.on_turn)
    return match, recorder.replay()


def test_the_replay_holds_the_learners_moves_by_game_and_ply() -> None:
    match, replay = recorded_games(small_net())
    assert (np.diff(replay.games) >= 0).all()
    colours = np.where(replay.games % 2 == 0, 1, -1)
    assert (replay.colours == colours).all()
    assert len(replay) <= match.plies.sum()
    planes = replay.unpacked(slice(0, len(replay)))
    turns = [planes[replay.games == game][:, :2].sum((1, 2, 3)) for game in range(6)]
    assert all(stones[0] == game % 2 for game, stones in enumerate(turns))  # White answers a first stone
    rows = np.arange(len(replay))
    assert planes[:, 46].reshape(len(replay), -1)[rows, replay.moves].all()


def test_the_gradient_is_the_formula() -> None:
    """1/n sum_i sum_t grad log p(a|s) (z - v), computed position by position."""
    net = small_net()
    match, replay = recorded_games(net)
    advantages = match.outcomes[replay.games].astype(np.float32) - 0.25
    net.zero_grad()
    accumulate_gradient(net, replay, advantages, match.games, 7, LayoutParams(), CPU)
    found = [parameter.grad.clone() for parameter in net.parameters() if parameter.grad is not None]
    net.zero_grad()
    for row in range(len(replay)):
        planes = torch.from_numpy(replay.unpacked(slice(row, row + 1)))
        legal = planes[0, 46].flatten().bool()
        log_p = torch.log_softmax(net(planes.float())[0][legal], dim=0)
        chosen = int(legal[: int(replay.moves[row])].sum())
        (log_p[chosen] * float(advantages[row]) / match.games).backward()
    for gradient, parameter in zip(found, net.parameters(), strict=True):
        assert parameter.grad is not None
        assert gradient == pytest.approx(-parameter.grad, abs=1e-5)


def test_moves_that_are_not_sensible_have_no_probability() -> None:
    planes = torch.zeros(1, 48, 2, 2, dtype=torch.uint8)
    planes[0, 46] = torch.tensor([[1, 0], [0, 1]])
    log_p = masked_log_probabilities(torch.tensor([[1.0, 50.0, 50.0, 1.0]]), planes)
    assert log_p.exp()[0].tolist() == pytest.approx([0.5, 0.0, 0.0, 0.5])


def test_the_baseline_is_the_value_for_the_learner() -> None:
    torch.manual_seed(3)
    value = ValueEvaluator(ValueNet(SIZE, filters=4, layers=2, hidden=8))
    _, replay = recorded_games(small_net())
    found = baseline(replay, value, batch_size=16)
    black = (replay.colours == 1).astype(np.uint8)
    planes = replay.unpacked(slice(0, len(replay)))
    colour = np.ones((len(replay), 1, SIZE, SIZE), np.uint8) * black[:, None, None, None]
    assert found == pytest.approx(value.values(np.concatenate([planes, colour], axis=1)), abs=1e-6)


def test_the_opponent_is_drawn_uniformly_from_the_pool(tmp_path: Path) -> None:
    pool = OpponentPool(tmp_path, small_params(pool_every=5), "cpu")
    assert [pool.draw(iteration) for iteration in range(5)] == [0] * 5
    assert list(pool.members(5)) == [0, 5]
    long = OpponentPool(tmp_path, small_params(pool_every=1000), "cpu")
    drawn = [long.draw(iteration) for iteration in range(3000, 4000)]
    assert set(drawn) == {0, 1000, 2000, 3000}
    assert all(drawn.count(member) > 200 for member in (0, 1000, 2000, 3000))


def test_a_training_writes_the_policy_and_the_pool(start: Path, tmp_path: Path) -> None:
    run = NullReporter()
    made = run_train_rl_policy(small_params(), {"sl_policy": start}, tmp_path / "work", run)
    folder = tmp_path / "work"
    assert made["outputs"]["rl_policy"]["kind"] == "model"
    found = weights(folder / made["outputs"]["rl_policy"]["path"])
    assert not same(found, weights(start))
    pool = sorted(path.name for path in (folder / "pool").iterdir())
    assert pool == [f"iteration-{n:06d}.safetensors" for n in (0, 2, 4, 6)]
    assert same(weights(folder / "pool" / pool[0]), weights(start))
    assert same(weights(folder / "pool" / pool[-1]), found)
    assert made["metrics"]["win_rate/sl_policy_low"] < made["metrics"]["win_rate/sl_policy"]
    assert [step for step, metrics in run.metrics if "win_rate/sl_policy" in metrics] == [3, 6]
    assert "After 6 iterations of 8 games" in made["summary"]


def test_batch_sizes_change_nothing_but_rounding(start: Path, tmp_path: Path) -> None:
    made = []
    for n, sizes in enumerate(({"replay_batch": 1024}, {"replay_batch": 10, "network_batch": 32})):
        folder = tmp_path / str(n)
        run_train_rl_policy(small_params(**sizes), {"sl_policy": start}, folder, NullReporter())
        made.append(weights(folder / "rl-policy.safetensors"))
    for name, tensor in made[0].items():
        assert tensor.numpy() == pytest.approx(made[1][name].numpy(), abs=1e-4)


class Killed(Exception):
    """Stands for a process that ends in the middle of an iteration."""


class KilledAt(NullReporter):
    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        super().log_metrics(metrics, step)
        if step == self.step:
            raise Killed


@pytest.mark.parametrize("step", [1, 3, 4, 5])
def test_a_killed_training_goes_on_exactly(start: Path, tmp_path: Path, step: int) -> None:
    whole = run_train_rl_policy(small_params(), {"sl_policy": start}, tmp_path / "whole", NullReporter())
    folder = tmp_path / "killed"
    with pytest.raises(Killed):
        run_train_rl_policy(small_params(), {"sl_policy": start}, folder, KilledAt(step))
    again = run_train_rl_policy(small_params(), {"sl_policy": start}, folder, NullReporter())
    for name in ("rl-policy.safetensors", *(f"pool/iteration-{n:06d}.safetensors" for n in (0, 2, 4, 6))):
        assert same(weights(folder / name), weights(tmp_path / "whole" / name))
    for made in (whole, again):
        del made["metrics"]["train/minutes"]
    assert again == whole


def test_a_signal_stops_it_and_leaves_its_state(start: Path, tmp_path: Path) -> None:
    import os
    import signal

    class Interrupting(NullReporter):
        def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
            super().log_metrics(metrics, step)
            if step == 3:
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingInterrupted, match="stopped after iteration 3"):
        run_train_rl_policy(small_params(), {"sl_policy": start}, tmp_path / "work", Interrupting())
    assert read_header(tmp_path / "work" / "rl-state.safetensors")["extra"]["iteration"] == 3


def test_a_few_iterations_raise_the_win_rate(start: Path, tmp_path: Path) -> None:
    params = small_params(
        iterations=25, games=64, learning_rate=0.05, network_batch=32, evaluate_every=0, evaluation_games=200
    )
    made = run_train_rl_policy(params, {"sl_policy": start}, tmp_path / "work", NullReporter())
    assert made["metrics"]["win_rate/sl_policy_low"] > 0.6


def test_the_value_network_is_the_baseline_of_the_second_pass(start: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = ValueNet(SIZE, filters=4, layers=2, hidden=8)
    value = save_checkpoint(tmp_path / "value.safetensors", net)
    params, run = small_params(iterations=1), NullReporter()
    run_train_rl_policy(params, {"sl_policy": start, "value_network": value}, tmp_path / "work", run)
    plain = run_train_rl_policy(params, {"sl_policy": start}, tmp_path / "plain", NullReporter())
    assert run.metrics[0][1]["train/squared_advantage"] != pytest.approx(1.0, abs=1e-6)
    found = weights(tmp_path / "work" / "rl-policy.safetensors")
    assert not same(found, weights(tmp_path / "plain" / plain["outputs"]["rl_policy"]["path"]))


def test_the_loss_of_entropy_is_said_early(start: Path, tmp_path: Path) -> None:
    run = NullReporter()
    made = run_train_rl_policy(
        small_params(entropy_warning=1.0, learning_rate=0.1), {"sl_policy": start}, tmp_path / "work", run
    )
    assert "entropy has fallen" in run.texts["warning-entropy.txt"]
    assert "entropy collapsed" in made["summary"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"board_size": 9}, "is for a 5x5 board, not for 9x9"), ({}, "there is no such checkpoint")],
)
def test_a_wrong_start_is_one_clear_line(
    start: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = start if changes else tmp_path / "missing.safetensors"
    with pytest.raises((UserError, ValueError), match=message):
        run_train_rl_policy(small_params(**changes), {"sl_policy": path}, tmp_path / "work", NullReporter())
