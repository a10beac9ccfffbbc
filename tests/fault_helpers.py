"""What the tests of faults share: small file systems, a home for one test, `alphago` in processes."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tasks.bootstrap import SOURCE_ROOT
from tasks.store import StageResult, read_result

NON_ASCII = "Überläufe 碁 č"  # a folder name with a space, and letters of one, two and three bytes
BALLAST = "ballast"
POLL_SECONDS = 0.05
WAIT_SECONDS = 240.0


@contextmanager
def small_disk(folder: Path, kibibytes: int) -> Iterator[Path]:
    """A file system of that size; the test is skipped where mounting is not permitted."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all that is left of a file system."""
    ballast = disk / BALLAST
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return ballast


def set_read_only(disk: Path, read_only: bool) -> None:
    """Of a `small_disk`: what root could still write to, if only the files' modes forbade it."""
    option = "ro" if read_only else "rw"
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)


def half_written(folder: Path) -> list[str]:
    """Files that were being written when something ended."""
    return [path.name for path in folder.rglob("*") if path.suffix in (".part", ".tmp")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(happened: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(POLL_SECONDS)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def children(pid: int, having: str) -> list[int]:
    """Processes below `pid` whose command line has `having` in it."""
    below = psutil.Process(pid).children(recursive=True)
    return [one.pid for one in below if having in " ".join(_command(one))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:  # gone, or dead
        return []


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has asked for its status does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Home:
    """A home of its own and the commands that work in it, each in a process of its own."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.given = environment

    @property
    def environment(self) -> dict[str, str]:
        foreign = ("PREFECT", "MLFLOW", "ALPHAGO")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        ours = {"ALPHAGO_HOME": str(self.folder), "PYTHONPATH": str(SOURCE_ROOT)}
        return kept | ours | self.given

    def start(self, *arguments: str, module: str = "flows.cli") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=SOURCE_ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, module: str = "flows.cli") -> str:
        """What a command that succeeds says."""
        process = self.start(*arguments, module=module)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        return said

    def results(self) -> list[StageResult]:
        found = [read_result(path.parent) for path in self.folder.glob("data/*/*/result.json")]
        return [result for result in found if result]

    def digests(self) -> dict[str, str]:
        """Of all that finished stages made, by stage and output."""
        return {
            f"{result.stage}/{name}": made.digest
            for result in self.results()
            for name, made in result.outputs.items()
        }


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9 of this one process."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def end_group(process: subprocess.Popen[str]) -> None:
    """Leave nothing of a started command behind."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
