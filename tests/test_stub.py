"""The committed stub of the compiled module is what nanobind writes; after new bindings, run `make stub`."""

import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).parents[1] / "go_engine" / "_core.pyi"


def test_the_stub_is_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("nanobind.stubgen")
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "go_engine._core", "-o", str(fresh)]
    subprocess.run(command, check=True, cwd=STUB.parents[1])
    assert fresh.read_text("utf-8") == STUB.read_text("utf-8"), "run: make stub"
