"""`alphago lineage`: from a reference to the printed tree of all that it came from."""

from __future__ import annotations

from tasks.lineage import input_lines, input_node, stage_node, tree_lines
from tasks.references import resolve_any
from tasks.store import StageResult
from tasks.tracking import find_model


def lineage_text(reference: str) -> str:
    """The tree, saying of each file whether it is lost or changed. Raises UserError for a dead reference."""
    found = resolve_any(reference, find_model)
    if isinstance(found, StageResult):
        return "\n".join(tree_lines(stage_node(found)))
    return "\n".join(input_lines(found.output or "file", input_node(found)))
