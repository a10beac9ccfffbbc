"""The threaded search under ThreadSanitizer: the core compiled with it, and a program that strains it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(p for p in (ROOT / "go_engine" / "src").glob("*.cpp") if p.name != "bind.cpp")
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=thread", "-pthread", f"-I{ROOT / 'go_engine' / 'src'}"]
COMPILER = os.environ.get("CXX") or shutil.which("c++")


def usable_sanitizer(folder: Path) -> bool:
    """Whether programs can be compiled and run with ThreadSanitizer here (some kernels do not let it run)."""
    if COMPILER is None:
        return False
    trial = folder / "trial.cpp"
    trial.write_text("int main() { return 0; }\n")
    built = subprocess.run([COMPILER, *FLAGS, str(trial), "-o", str(folder / "trial")], capture_output=True)
    return built.returncode == 0 and subprocess.run([str(folder / "trial")]).returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_eight_threads_without_a_race(tmp_path: Path) -> None:
    if not usable_sanitizer(tmp_path):
        pytest.skip("no compiler that can build and run with -fsanitize=thread")
    program = tmp_path / "race"
    command = [str(COMPILER), *FLAGS, str(ROOT / "tests" / "search_race.cpp"), *map(str, SOURCES)]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[:4000]
    assert done.stdout.strip() == "ok"
