"""The stage: the same twice, killed, with networks, as a gauntlet."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
from sgfmill import sgf
from tournament_helpers import ROOT, journal_lines, params, play

from go_engine import RolloutPolicy
from models.checkpoint import save_checkpoint
from models.networks import PolicyNet
from tasks.errors import UserError
from tasks.evaluate_tournament import JOURNAL, run_evaluate_tournament
from tasks.params import GuestParams
from tasks.reporting import NullReporter


def test_a_tournament_is_the_same_twice_and_goes_on(tmp_path: Path) -> None:
    whole = play(tmp_path / "a")
    assert play(tmp_path / "b", lanes=1)["summary"] == whole["summary"]
    lines = (tmp_path / "a" / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / JOURNAL).write_bytes(b"".join(lines[:4]) + lines[4][:10])
    assert play(tmp_path / "c")["summary"] == whole["summary"]
    assert (tmp_path / "c" / JOURNAL).read_bytes().startswith(b"".join(lines[:4]))
    for name in ("crosstable.json", "ratings.csv", "games/other--random.sgf"):
        assert (tmp_path / "c" / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


KILLED = """
import os, sys
from pathlib import Path
from tasks.evaluate_tournament import run_evaluate_tournament
from tasks.params import EvaluateTournamentParams
from tasks.reporting import NullReporter
class Dying(NullReporter):
    def progress(self, done, total, note=""):
        if done > int(sys.argv[3]): os.kill(os.getpid(), 9)
params = EvaluateTournamentParams.model_validate_json(sys.argv[1])
run_evaluate_tournament(params, {}, Path(sys.argv[2]), Dying())
"""


def test_kills_change_nothing(tmp_path: Path) -> None:
    whole = play(tmp_path / "a", lanes=4)
    for done in (0, 7):
        argv = [
            sys.executable,
            "-c",
            KILLED,
            params(lanes=4).model_dump_json(),
            str(tmp_path / "b"),
            str(done),
        ]
        assert subprocess.run(argv, cwd=ROOT, check=False, timeout=120).returncode == -9
    assert len(journal_lines(tmp_path / "b")) - 1 in (8, 9, 10)
    assert play(tmp_path / "b", lanes=4)["summary"] == whole["summary"]


def test_records_can_be_read(tmp_path: Path) -> None:
    out = play(tmp_path)
    text = (tmp_path / out["outputs"]["games"]["path"] / "other--random.sgf").read_bytes()
    assert text.count(b"(;") == 12
    game = sgf.Sgf_game.from_bytes(text)
    assert {game.get_player_name("b"), game.get_player_name("w")} == {"random", "other"}
    assert game.get_komi() == 7.5
    assert game.get_winner() in ("b", "w")
    assert pd.read_csv(tmp_path / "ratings.csv")["games"].sum() == 24


def test_networks_and_missing_inputs(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    save_checkpoint(tmp_path / "p.safetensors", PolicyNet(5, 48, 4, 2))
    RolloutPolicy.uniform().save(tmp_path / "r.safetensors")
    inputs = {"sl_policy": tmp_path / "p.safetensors", "rollout_policy": tmp_path / "r.safetensors"}
    players = {"SL": "policy:sl_policy", "RL": "policy:rl_policy", "rollout": "rollout", "random": "random"}
    reporter = NullReporter()
    out = run_evaluate_tournament(params(players=players), inputs, tmp_path / "t", reporter)
    assert "RL is left out: there is no rl_policy" in out["summary"]
    assert set(out["metrics"]) >= {"elo/SL", "elo/rollout", "elo/random", "games", "games/length_cap"}
    assert out["metrics"]["games"] == 36
    assert "elo.png" in reporter.figures


def test_too_few_players_and_clashing_names(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs two players"):
        play(tmp_path, players={"random": "random"})
    with pytest.raises(UserError, match="a player and of a guest"):
        play(tmp_path, guests={"random": GuestParams(command="true")})
    with pytest.raises(UserError, match="challenger 'x' is none"):
        play(tmp_path, pairing="gauntlet", challenger="x")
    with pytest.raises(UserError, match="are guests"):
        play(tmp_path, players={"random": "random", "x": "gtp:true"})


def test_a_gauntlet(tmp_path: Path) -> None:
    play(tmp_path, players=dict.fromkeys("abc", "random"), pairing="gauntlet", challenger="b", games=2)
    pairs = {frozenset((line["black"], line["white"])) for line in journal_lines(tmp_path)[1:]}
    assert pairs == {frozenset("ab"), frozenset("bc")}
