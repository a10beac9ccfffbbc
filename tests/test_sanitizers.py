"""The core built with the address, undefined-behaviour and thread sanitizers, put through other tests.

The builds stay in build/sanitize-*, so that only the first run is slow (a minute or two each).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ADDRESS = [
    "test_bad_calls",
    "test_board",
    "test_engine_fuzz",
    "test_game_batch",
    "test_ladders",
    "test_planes",
    "test_playouts",
    "test_replay",
    "test_search",
    "test_search_threads",
]
THREAD = ["test_bad_calls", "test_playouts", "test_replay", "test_search_threads"]

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


def build(sanitizers: str) -> Path:
    """A folder with the package and the sanitized core in it."""
    cmake = tool("cmake")
    assert cmake is not None
    folder = ROOT / "build" / f"sanitize-{sanitizers.replace(',', '-')}"
    configure = [cmake, "-S", str(ROOT), "-B", str(folder), f"-DPython_EXECUTABLE={sys.executable}"]
    options = [f"-DALPHAGO_SANITIZE={sanitizers}", "-DALPHAGO_NATIVE=OFF"]
    generator = ["-G", "Ninja"] if tool("ninja") else []
    subprocess.run([*configure, *options, *generator], check=True, capture_output=True)
    made = subprocess.run(
        [cmake, "--build", str(folder), "-j", "2"], check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    package = folder / "site" / "go_engine"
    package.mkdir(parents=True, exist_ok=True)
    for source in (ROOT / "go_engine").glob("*.py"):
        shutil.copy(source, package)
    for core in folder.glob("_core*.so"):
        shutil.copy(core, package)
    return package.parent


def run_tests(site: Path, library: str, names: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs test files against the package in `site` with a sanitizer's library loaded first."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{site}{os.pathsep}{ROOT}",
        "LD_PRELOAD": f"{library} {runtime('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself leaks at exit
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "report_signal_unsafe=0",
    }
    steady = [tool("setarch"), "-R"] if tool("setarch") else []  # thread sanitizers dislike random addresses
    tests = [str(ROOT / "tests" / f"{name}.py") for name in names]
    command = [
        *steady,
        sys.executable,
        "-P",
        "-c",
        RUN_TESTS,
        "-p",
        "no:cacheprovider",
        "--noconftest",
        *tests,
    ]
    return subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(tool("cmake") is None, reason="cmake is not installed")
@pytest.mark.parametrize(
    ("sanitizers", "library", "names"),
    [("address,undefined", "libasan.so", ADDRESS), ("thread", "libtsan.so", THREAD)],
)
def test_the_engine_is_clean_under_the_sanitizers(sanitizers: str, library: str, names: list[str]) -> None:
    path = runtime(library)
    if path is None:
        pytest.skip(f"the compiler has no {library}")
    site = build(sanitizers)
    run = run_tests(site, path, names)
    printed = run.stdout + run.stderr
    assert str(site) in run.stdout, f"the tests ran another build\n{printed[-5000:]}"
    assert run.returncode == 0, printed[-5000:]
    for complaint in ("runtime error", "AddressSanitizer", "ThreadSanitizer"):
        assert complaint not in printed, printed[-5000:]
