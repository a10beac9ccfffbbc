"""The ancestry of what a stage made, down to the digests of the files it all began with.

Each work folder holds the whole tree as lineage.json, so that it can be told even after an ancestor's
folder is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.bootstrap import data_root
from tasks.digests import MANIFEST, lost_file, path_digest, read_manifest
from tasks.errors import UserError
from tasks.store import Input, StageResult, read_result, write_text

LINEAGE = "lineage.json"
SHOWN_DIGITS = 12
SHOWN_FILES = 20
NOTE_LINES = 40  # MLflow keeps 6,000 to 8,000 characters of a note

Node = dict[str, Any]


def stage_node(result: StageResult) -> Node:
    """The tree above a stage: itself, and under "inputs" what it took, each with the stage that made it."""
    kept_inputs = (_kept(Path(result.folder)) or {}).get("inputs", {})
    return {
        "stage": result.stage,
        "folder": Path(result.folder).name,
        "run_id": result.run_id,
        "profile": result.profile,
        "params": result.params,
        "code": result.code,
        "git_commit": result.git_commit,
        "git_dirty": result.git_dirty,
        "finished": result.finished,
        "command": result.command,
        "outputs": {
            name: {"path": str(result.path(name)), "digest": made.digest, "version": made.version}
            for name, made in result.outputs.items()
        },
        "inputs": {name: input_node(taken, kept_inputs.get(name)) for name, taken in result.inputs.items()},
    }


def input_node(taken: Input, kept: Node | None = None) -> Node:
    """The tree above an input; `kept` was noted when it was used, for a maker whose folder is gone."""
    node: Node = {"path": taken.path, "digest": taken.digest, "run_id": taken.run_id, "output": taken.output}
    if taken.files:
        node["files"] = taken.files
    if taken.stage and taken.folder:
        nothing: Node = {
            "stage": taken.stage,
            "folder": taken.folder,
            "run_id": taken.run_id,
            "outputs": {},
            "inputs": {},
        }
        maker = read_result(data_root() / taken.stage / taken.folder)
        if maker and taken.output in maker.outputs:
            node["path"] = str(maker.path(taken.output))  # where it lies now: the home may have been moved
        node["made_by"] = stage_node(maker) if maker else (kept or {}).get("made_by") or nothing
    return node


def _kept(folder: Path) -> Node | None:
    try:
        kept: Node = json.loads((folder / LINEAGE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept


def write_lineage(result: StageResult) -> Path:
    path = Path(result.folder) / LINEAGE
    write_text(path, json.dumps(stage_node(result), indent=1, ensure_ascii=False) + "\n")
    return path


def tree_lines(node: Node, check: bool = True, seen: set[str] | None = None) -> Iterator[str]:
    """The tree of a stage as lines of text; with `check`, each says when its file is lost or has changed.

    A stage that several others came from is told once; `seen` holds those told already.
    """
    seen = set() if seen is None else seen
    key = f"{node['stage']}/{node['folder']}"
    if key in seen:
        yield f"{_stage_title(node)}, see above"
        return
    seen.add(key)
    yield _stage_title(node)
    for name, made in node["outputs"].items():
        version = f" v{made['version']}" if made.get("version") else ""
        yield f"  -> {name}{version} {_short(made['digest'])} {made['path']}{_trouble(made, check, node)}"
    inputs = list(node["inputs"].items())
    for number, (name, taken) in enumerate(inputs):
        last = number == len(inputs) - 1
        lines = input_lines(name, taken, check, seen)
        yield f"{'`-' if last else '|-'} {next(lines)}"
        yield from (f"{'  ' if last else '| '} {line}" for line in lines)


def input_lines(name: str, taken: Node, check: bool = True, seen: set[str] | None = None) -> Iterator[str]:
    """The tree of one input, likewise."""
    maker = taken.get("made_by")
    yield f"{name} {_short(taken['digest'])} {taken['path']}{_trouble(taken, check, maker)}"
    files = taken.get("files") or _shards(Path(taken["path"]))
    for file, digest in list(files.items())[:SHOWN_FILES]:
        yield f"   {_short(digest)} {file}"
    if len(files) > SHOWN_FILES:
        yield f"   ... and {len(files) - SHOWN_FILES} files more"
    if maker:
        lines = tree_lines(maker, check, seen)
        yield f"`- {next(lines)}"
        yield from (f"   {line}" for line in lines)


def _shards(path: Path) -> dict[str, str]:
    if not (path / MANIFEST).is_file():
        return {}
    return {str(file["name"]): str(file["sha256"]) for file in read_manifest(path).get("files", [])}


def _stage_title(node: Node) -> str:
    parts = [node["stage"], f"({node['folder']})"]
    if node.get("run_id"):
        parts.append(f"run {node['run_id']}")
    if node.get("git_commit"):
        parts.append(
            f"commit {node['git_commit'][:SHOWN_DIGITS]}{' + changes' if node.get('git_dirty') else ''}"
        )
    return " ".join(parts)


def _trouble(thing: Node, check: bool, maker: Node | None) -> str:
    """What is wrong with a file or data set, and the command that makes it again if a stage made it."""
    if not check:
        return ""
    path = Path(thing["path"])
    try:
        if gone := lost_file(path):
            file = "" if gone == path else f": {gone.name}"
            return f"  LOST{file}" + (f"; `{_remake(maker)}` makes it again" if maker else "")
        return "" if path_digest(path) == thing["digest"] else "  CHANGED since it was used"
    except (OSError, UserError) as error:
        return f"  UNREADABLE: {error}"


def _remake(maker: Node) -> str:
    return maker.get("command") or f"alphago run {maker['stage']}"


def _short(digest: str) -> str:
    return f"sha256:{digest[:SHOWN_DIGITS]}"


def note(node: Node) -> str:
    """Markdown for the run's page in MLflow: the ancestry as a list and as a mermaid graph."""
    lines = [f"**Lineage of {node['stage']}**", "", "```"]
    tree = list(tree_lines(node, check=False))
    lines += tree[:NOTE_LINES]
    lines += [f"... {len(tree) - NOTE_LINES} lines more: alphago lineage"] if len(tree) > NOTE_LINES else []
    lines += ["```", "", "```mermaid", "graph LR"]
    lines += sorted(set(_edges(node)))
    return "\n".join([*lines, "```"])


def _edges(node: Node) -> Iterator[str]:
    here = _mermaid_id(node)
    yield f"  {here}[{node['stage']}]"
    for name, taken in node["inputs"].items():
        maker = taken.get("made_by")
        if maker:
            yield f"  {_mermaid_id(maker)} -- {name} --> {here}"
            yield from _edges(maker)
        else:
            source = f"file_{taken['digest'][:SHOWN_DIGITS]}"
            yield f'  {source}["{Path(taken["path"]).name}"] -- {name} --> {here}'


def _mermaid_id(node: Node) -> str:
    return f"{node['stage']}_{node['folder']}".replace("-", "_")
