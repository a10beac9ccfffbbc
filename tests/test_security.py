"""What comes from others stays data: files run no code, command lines meet no shell, pages no script."""

from __future__ import annotations

import ast
import os
import pickle
import shlex
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
import torch

from go_engine import RolloutPolicy
from go_engine.gtp_client import GtpError, GtpProcess
from models.checkpoint import load_policy, load_value, read_header
from tasks.bootstrap import SOURCE_ROOT
from tasks.errors import UserError
from tasks.players import Setting, command_line, make_player, parse_spec

PRODUCT = ("datasets", "flows", "go_engine", "models", "tasks")
RUNS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "code", "runpy"}
CALLS = {
    "eval": "runs text",
    "exec": "runs text",
    "os.system": "a shell",
    "os.popen": "a shell",
    "subprocess.getoutput": "a shell",
    "subprocess.getstatusoutput": "a shell",
    "torch.load": "unpickles",
    "pd.read_pickle": "unpickles",
    "yaml.load": "builds objects; safe_load does not",
    "yaml.unsafe_load": "builds objects",
}
UNPACKS = {"extract", "extractall", "unpack_archive"}  # a member's name decides where it is written


def sources() -> Iterator[Path]:
    for package in PRODUCT:
        yield from sorted((SOURCE_ROOT / package).rglob("*.py"))


def dangers(tree: ast.AST) -> Iterator[str]:
    """What in a module could run what it was given, or listen to everybody."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (f"import {n.name}" for n in names if n.name.split(".")[0] in RUNS_CODE)
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in RUNS_CODE:
                yield f"from {module}"
            case ast.Call(func=function, keywords=keywords):
                name = ast.unparse(function)
                in_memory = "factory" in {keyword.arg for keyword in keywords}  # py7zr: members go there
                if name in CALLS or (name.rpartition(".")[2] in UNPACKS and not in_memory):
                    yield f"{name}(): {CALLS.get(name, 'writes where a member says')}"
                for keyword in keywords:
                    told = keyword.arg, getattr(keyword.value, "value", None)
                    if told in {("shell", True), ("allow_pickle", True), ("weights_only", False)}:
                        yield f"{name}({ast.unparse(keyword)})"
                if name == "np.load" and "allow_pickle" not in {keyword.arg for keyword in keywords}:
                    yield "np.load() without allow_pickle=False"
            case ast.Constant(value="0.0.0.0" | "::"):
                yield "an address of all interfaces"


def test_nothing_in_the_product_runs_what_it_is_given() -> None:
    found = [
        f"{path.relative_to(SOURCE_ROOT)}: {danger}"
        for path in sources()
        for danger in dangers(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from dill import loads",
        "eval(text)",
        "torch.load(path)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(line, shell=True)",
        "archive.extractall(folder)",
        "serve('0.0.0.0')",
    ],
)
def test_the_sweep_sees_what_it_looks_for(line: str) -> None:
    assert list(dangers(ast.parse(line)))


class Marker:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_a_checkpoint_that_is_a_pickle_is_refused_unread(tmp_path: Path, how: str) -> None:
    marker, path = tmp_path / "marker", tmp_path / "policy.safetensors"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Marker(marker)))
    else:
        torch.save({"weights": Marker(marker)}, path)
    doors: list[Callable[[], object]] = [
        lambda: read_header(path),
        lambda: load_policy(path, 9),
        lambda: load_value(path, 9),
        lambda: RolloutPolicy.load(path),
        *(
            lambda spec=spec: make_player(f"{spec}{path}", Setting(size=9))
            for spec in ("policy:", "rollout:", "search:policy=", "search:value=", "search:tree=")
        ),
    ]
    for door in doors:
        with pytest.raises((UserError, ValueError)):
            door()
    assert not marker.exists()
    content = BytesIO(path.read_bytes())
    torch.load(content, weights_only=False) if how == "torch" else pickle.load(content)
    assert marker.exists()  # it would have


@pytest.mark.parametrize(
    "trick", ["; touch marker", "$(touch marker)", "`touch marker`", "| touch marker", "&& touch marker"]
)
def test_a_guests_command_line_meets_no_shell(tmp_path: Path, trick: str) -> None:
    words = parse_spec(f"gtp:no-such-program {trick}").command
    argv = command_line(words, Setting(size=9))
    assert argv == shlex.split(f"no-such-program {trick}")
    with pytest.raises(GtpError, match="cannot start"):
        GtpProcess(argv, cwd=tmp_path)
    engine = GtpProcess(["cat", *argv[1:]], cwd=tmp_path)
    with pytest.raises(GtpError):
        engine.command("name", timeout=5)
    assert list(tmp_path.iterdir()) == []
