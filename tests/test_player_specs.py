"""Players from a line of text."""

from pathlib import Path

import pytest

from go_engine import Board
from models.checkpoint import save_checkpoint
from models.networks import PolicyNet, ValueNet
from tasks.errors import UserError
from tasks.players import Setting, find, make_player, needed_inputs, parse_spec


@pytest.mark.parametrize("size", [9, 19])
def test_what_ships_is_named_pretrained(size: int) -> None:
    for argument in ("rollout", "tree"):
        assert (
            find(argument, "pretrained", Setting(size=size)).name == f"{argument}-{size}x{size}.safetensors"
        )
    player = make_player("rollout:pretrained", Setting(size=size))
    board = Board(size=size)
    assert board.is_legal(player.choose(board))
    with pytest.raises(UserError, match="no pretrained rollout on 7x7 comes with the product"):
        make_player("rollout:pretrained", Setting(size=7))
    assert needed_inputs(parse_spec("search:pretrained")) == []


def test_specs() -> None:
    assert parse_spec("random").kind == "random"
    assert parse_spec("rollout:a/b.safetensors,temperature=0.5").arguments == {
        "rollout": "a/b.safetensors",
        "temperature": "0.5",
    }
    assert parse_spec("policy:sl_policy").arguments == {"policy": "sl_policy"}
    assert parse_spec("search:p, value=v,lambda=0.5").arguments == {
        "policy": "p",
        "value": "v",
        "lambda": "0.5",
    }
    assert parse_spec("gtp:gnugo --mode gtp '--x y'").command == ["gnugo", "--mode", "gtp", "--x y"]
    assert needed_inputs(parse_spec("search:policy=rl_policy,rollout=x.safetensors")) == ["rl_policy"]
    assert needed_inputs(parse_spec("rollout")) == ["rollout_policy"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "the kind is one of"),
        ("robot", "the kind is one of"),
        ("gtp:", "no command line"),
        ("gtp:'x", "No closing quotation"),
        ("random:x", "is no key=value"),
        ("random:x=1", "x is no setting of random"),
        ("policy:a,b", "'b' is no key=value"),
        ("policy:a,policy=b", "given twice"),
    ],
)
def test_bad_specs_are_one_line(spec: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_player(spec, Setting(size=5, inputs={"sl_policy": Path("/none")}))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("simulations=-5", "simulations must lie in 0..1,000,000,000, not -5"),
        ("seconds=-1", "seconds must lie in"),
        ("leaves=0", "leaves must lie in"),
        ("threads=0", "threads must lie in 1..256, not 0"),
        ("precision=int3", "precision=int3 is none of"),
    ],
)
def test_settings_of_a_search_are_checked_at_once(setting: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_player(f"search:rollout=pretrained,{setting}", Setting(size=9))


def test_networks_of_two_board_sizes_are_refused(tmp_path: Path) -> None:
    policy = save_checkpoint(tmp_path / "p.safetensors", PolicyNet(5, filters=2, layers=1))
    value = save_checkpoint(tmp_path / "v.safetensors", ValueNet(7, filters=2, layers=1, hidden=2))
    with pytest.raises(UserError, match="the policy network is for 5x5, the value network for 7x7"):
        make_player(f"search:policy={policy},value={value}")
