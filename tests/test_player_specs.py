"""Players from a line of text."""

from pathlib import Path

import pytest

from go_engine import Board
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
