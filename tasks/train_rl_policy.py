"""Stage 4: the policy network improves by self-play against a pool of its past (Methods, REINFORCE).

An iteration plays n games between the network and one opponent drawn from the pool, half with each colour,
and then takes one step of plain gradient ascent. Every random choice follows from the seed and the
iteration, and the state on disk (weights, iteration, curves) is moved into place whole, so that a training
that was killed goes on to exactly the weights of an uninterrupted one (on a CPU, with the same number of
threads).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from datasets.store import remove_parts
from models.checkpoint import (
    CheckpointError,
    load_checkpoint,
    load_policy,
    load_value,
    read_header,
    save_checkpoint,
)
from models.evaluators import PolicyEvaluator, ValueEvaluator
from models.networks import PolicyNet
from tasks.distributed import pick_device, thread_count, torch_threads
from tasks.elo import agresti_coull
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted, stop_on_signal
from tasks.match import Match, play_match
from tasks.opponent_pool import OpponentPool
from tasks.params import TrainRlPolicyParams
from tasks.reinforce import Recorder, accumulate_gradient, baseline, gradient_norm
from tasks.reporting import Reporter
from tasks.self_play import Seat, game_seeds
from tasks.trainer import due, laid_out

STATE_FILE = "rl-state.safetensors"
MODEL_FILE = "rl-policy.safetensors"
POOL_FOLDER = "pool"
GAME_STREAM, EVALUATION_STREAM = 2, 3  # of random numbers, see also opponent_pool

log = logging.getLogger("alphago.train_rl_policy")


@dataclass
class RlState:
    """`iteration` counts finished iterations, `matches` the results against the SL policy on the way."""

    net: PolicyNet
    iteration: int = 0
    first_entropy: float = 0.0
    warned: bool = False
    matches: list[dict[str, float]] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Write the state, atomically."""
        numbers = {key: getattr(self, key) for key in ("iteration", "first_entropy", "warned", "matches")}
        save_checkpoint(folder / STATE_FILE, self.net, numbers)

    def resume(self, folder: Path) -> bool:
        """Go on from the state in `folder`; False when there is none."""
        path = folder / STATE_FILE
        if not path.exists():
            return False
        try:
            net, extra = load_checkpoint(path, "policy", self.net.size), read_header(path)["extra"]
        except CheckpointError as error:
            raise UserError(f"{error}; remove it to train from the beginning") from error
        self.net.load_state_dict(net.state_dict())
        for key, value in extra.items():
            setattr(self, key, value)
        return True


def run_train_rl_policy(
    params: TrainRlPolicyParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> dict[str, Any]:
    """Train from inputs["sl_policy"], with inputs["value_network"], if given, as the baseline.

    Returns outputs rl_policy (the final weights) and opponent_pool. Raises TrainingInterrupted after a
    SIGTERM or SIGINT: the same call goes on from there.
    """
    started = time.monotonic()
    remove_parts(folder)
    with torch_threads(params.threads), stop_on_signal() as stop:
        learner = Learner(params, inputs, folder)
        state = learner.state
        if state.resume(folder):
            run.progress(state.iteration, params.iterations, "resumed")
        else:
            learner.pool.add(0, state.net)
        while state.iteration < params.iterations:
            metrics = learner.iterate()
            run.log_metrics(metrics, step=state.iteration)
            run.progress(state.iteration, params.iterations, f"wins {metrics['play/win_rate']:.0%}")
            warn_of_collapse(state, metrics["play/entropy"], params, run)
            if due(state.iteration, params.evaluate_every, params.iterations):
                state.matches.append(learner.evaluate())
                run.log_metrics(rated(state.matches[-1]), step=state.iteration)
            if stop.asked or due(state.iteration, params.checkpoint_every, params.iterations):
                state.save(folder)
            if stop.asked and state.iteration < params.iterations:
                raise TrainingInterrupted(f"stopped after iteration {state.iteration}; the same call goes on")
    save_checkpoint(folder / MODEL_FILE, state.net, {"rl_iterations": state.iteration, **state.matches[-1]})
    run.log_text("matches.md", match_table(state.matches))
    return {
        "outputs": {
            "rl_policy": {"path": MODEL_FILE, "kind": "model"},
            "opponent_pool": {"path": POOL_FOLDER, "kind": "artifact"},
        },
        "metrics": {**rated(state.matches[-1]), "train/minutes": (time.monotonic() - started) / 60},
        "summary": summary(state, params),
    }


class Learner:
    """One training: the network, its opponents, its baseline, and what an iteration does."""

    def __init__(self, params: TrainRlPolicyParams, inputs: dict[str, Path], folder: Path) -> None:
        self.params = params
        self.device = pick_device(params.compute.device)
        self.threads = thread_count(params.threads)
        start = load_policy(inputs["sl_policy"], params.board_size)
        self.sl_policy = self._seat(start)
        self.value: ValueEvaluator | None = None
        if inputs.get("value_network"):
            net = load_value(inputs["value_network"], params.board_size)
            self.value = ValueEvaluator(
                net, 1, params.compute.precision, params.replay_batch, str(self.device)
            )
        self.state = RlState(start)
        self.pool = OpponentPool(folder / POOL_FOLDER, params, str(self.device))
        laid_out(start, params.compute, self.device)

    def iterate(self) -> dict[str, float]:
        """Play one minibatch of games, take one step; returns what is worth watching."""
        state, params = self.state, self.params
        opponent = self.pool.draw(state.iteration)
        recorder = Recorder(params.board_size)
        seeds = game_seeds(params.seed, GAME_STREAM, state.iteration, count=params.games)
        started = time.perf_counter()
        match = self._match(Seat(self.pool.evaluator(opponent)), seeds, recorder)
        played = time.perf_counter()
        watched = self._step(recorder, match)
        state.iteration += 1
        if state.iteration % params.pool_every == 0:
            self.pool.add(state.iteration, state.net)
        return watched | {
            "play/win_rate": match.wins / match.games,
            "play/opponent": float(opponent),
            "play/plies": float(match.plies.mean()),
            "play/capped": float(match.capped.sum()),
            "play/positions_per_second": float(match.plies.sum()) / (played - started),
            "train/seconds": time.perf_counter() - played,
        }

    def evaluate(self) -> dict[str, float]:
        """Wins and games of a match between the network as it is and the SL policy."""
        params, iteration = self.params, self.state.iteration
        seeds = game_seeds(params.seed, EVALUATION_STREAM, iteration, count=params.evaluation_games)
        match = self._match(self.sl_policy, seeds, None)
        return {"iteration": float(iteration), "wins": match.wins, "games": float(match.games)}

    def _step(self, recorder: Recorder, match: Match) -> dict[str, float]:
        """One step of ascent along the REINFORCE gradient of the games played."""
        state, params = self.state, self.params
        replay = recorder.replay()
        advantages = match.outcomes[replay.games].astype(np.float32)
        if self.value is not None:
            advantages -= baseline(replay, self.value, params.replay_batch)
        state.net.zero_grad(set_to_none=True)
        entropy = accumulate_gradient(
            state.net, replay, advantages, params.games, params.replay_batch, params.compute, self.device
        )
        norm = gradient_norm(state.net)
        if not np.isfinite(norm):
            raise UserError(
                f"the gradient is {norm} at iteration {state.iteration}; try a smaller learning_rate"
            )
        with torch.no_grad():
            for parameter in state.net.parameters():
                if parameter.grad is not None:
                    parameter.sub_(parameter.grad, alpha=params.learning_rate)
        spread = float(np.square(advantages).mean()) if len(replay) else 0.0
        return {"train/gradient_norm": norm, "train/squared_advantage": spread, "play/entropy": entropy}

    def _match(self, opponent: Seat, seeds: np.ndarray, recorder: Recorder | None) -> Match:
        params = self.params
        return play_match(
            self._seat(self.state.net),
            opponent,
            seeds,
            params.board_size,
            params.komi,
            params.network_batch,
            self.threads,
            recorder.on_turn if recorder else None,
        )

    def _seat(self, net: PolicyNet) -> Seat:
        """The network as it is now (an evaluator copies the weights)."""
        params = self.params
        return Seat(PolicyEvaluator(net, 1, params.compute.precision, params.network_batch, str(self.device)))


def warn_of_collapse(state: RlState, entropy: float, params: TrainRlPolicyParams, run: Reporter) -> None:
    """Say once when the policy has become so sure of itself that it explores no more."""
    if state.first_entropy == 0.0:
        state.first_entropy = entropy
    if state.warned or entropy >= params.entropy_warning * state.first_entropy:
        return
    state.warned = True
    text = (
        f"the policy's entropy has fallen from {state.first_entropy:.2f} to {entropy:.2f} nats "
        f"at iteration {state.iteration}: it hardly explores any more; try a smaller learning_rate"
    )
    log.warning(text)
    run.log_text("warning-entropy.txt", text + "\n")


def rated(match: dict[str, float]) -> dict[str, float]:
    """A match as metrics: win rate with its 95% Agresti-Coull interval."""
    low, high = agresti_coull(match["wins"], match["games"])
    return {
        "win_rate/sl_policy": match["wins"] / match["games"],
        "win_rate/sl_policy_low": low,
        "win_rate/sl_policy_high": high,
    }


def match_table(matches: list[dict[str, float]]) -> str:
    """The matches against the SL policy as a Markdown table."""
    lines = ["| iteration | games | win rate | 95% Agresti-Coull |", "|---:|---:|---:|---:|"]
    for match in matches:
        low, high = agresti_coull(match["wins"], match["games"])
        share = match["wins"] / match["games"]
        lines.append(
            f"| {match['iteration']:.0f} | {match['games']:.0f} | {share:.1%} | {low:.1%} to {high:.1%} |"
        )
    return "\n".join(lines) + "\n"


def summary(state: RlState, params: TrainRlPolicyParams) -> str:
    last = state.matches[-1]
    low, high = agresti_coull(last["wins"], last["games"])
    warning = " Its entropy collapsed on the way." if state.warned else ""
    return (
        f"After {state.iteration} iterations of {params.games} games the RL policy wins "
        f"{last['wins'] / last['games']:.1%} ({low:.1%} to {high:.1%}) of {last['games']:.0f} games "
        f"against the SL policy that it started from.{warning}"
    )
