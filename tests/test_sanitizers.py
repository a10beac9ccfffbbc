"""The core built with the address and undefined-behaviour sanitizers, put through games, planes, bad calls.

The build stays in build/sanitize, so that only the first run is slow (a minute or two).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize"
TESTS = [
    "test_bad_calls",
    "test_board",
    "test_engine_fuzz",
    "test_game_batch",
    "test_ladders",
    "test_planes",
    "test_playouts",
    "test_replay",
]
# An editable install has a finder that would bring its own build; the package to test comes from PYTHONPATH.
RUN_TESTS = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import go_engine._core, pytest
print(go_engine._core.__file__)
sys.exit(pytest.main(sys.argv[1:]))
"""


def runtime(name: str) -> str | None:
    """The sanitizer's library of the compiler, which must be loaded before Python itself."""
    compiler = shutil.which("c++")
    if compiler is None:
        return None
    found = subprocess.run(
        [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    path = Path(found.stdout.strip())
    return str(path) if path.is_absolute() and path.exists() else None


def tool(name: str) -> str | None:
    return shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def build() -> Path:
    """A folder with the package and the sanitized core in it."""
    cmake = tool("cmake")
    assert cmake is not None
    configure = [cmake, "-S", str(ROOT), "-B", str(BUILD), f"-DPython_EXECUTABLE={sys.executable}"]
    options = ["-DALPHAGO_SANITIZE=address,undefined", "-DALPHAGO_NATIVE=OFF"]
    generator = ["-G", "Ninja"] if tool("ninja") else []
    subprocess.run([*configure, *options, *generator], check=True, capture_output=True)
    made = subprocess.run(
        [cmake, "--build", str(BUILD), "-j", "2"], check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    package = BUILD / "site" / "go_engine"
    package.mkdir(parents=True, exist_ok=True)
    for source in (ROOT / "go_engine").glob("*.py"):
        shutil.copy(source, package)
    for core in BUILD.glob("_core*.so"):
        shutil.copy(core, package)
    return package.parent


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(runtime("libasan.so") is None, reason="the compiler has no AddressSanitizer (libasan)")
@pytest.mark.skipif(tool("cmake") is None, reason="cmake is not installed")
def test_the_engine_is_clean_under_the_sanitizers() -> None:
    site = build()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaks at exit
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    tests = [str(ROOT / "tests" / f"{name}.py") for name in TESTS]
    command = [sys.executable, "-P", "-c", RUN_TESTS, "-p", "no:cacheprovider", "--noconftest", *tests]
    run = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, check=False)
    printed = run.stdout + run.stderr
    assert str(site) in run.stdout, "the tests ran another build"
    assert run.returncode == 0, printed[-5000:]
    assert "runtime error" not in printed, printed[-5000:]
    assert "AddressSanitizer" not in printed, printed[-5000:]
