"""The Prefect server that a run starts for itself when no other is there."""

from __future__ import annotations

import os
import subprocess
import time

from tasks.bootstrap import SERVER_START_SECONDS, answers

POLL_SECONDS = 0.5
# Waits for the end of its input, which comes when the process at the other end is gone, however it went.
WATCHER = 'read -r _; kill -s TERM -- "$1" 2>/dev/null'

_watchers: list[subprocess.Popen[bytes]] = []  # kept, for a forgotten one would see its input end


def start_temporary_server() -> None:
    """Start Prefect's temporary server and wait until it answers, unless PREFECT_API_URL names another.

    Prefect gives each health check 5 s and takes a late answer for a failed start, which on a busy machine
    it is not: a server that listens and still runs is waited for. Raises RuntimeError when it has ended or
    does not answer in SERVER_START_SECONDS.
    """
    if os.environ.get("PREFECT_API_URL"):
        return
    import httpx
    from prefect.server.api.server import SubprocessASGIServer

    server = SubprocessASGIServer()
    if server.running:
        return
    try:
        server.start()
    except httpx.TimeoutException:
        _wait_for(server.server_process, server.api_url)
        server.running = True  # as `start` leaves it
    if server.server_process:
        end_with_us(server.server_process.pid)


def _wait_for(process: subprocess.Popen[bytes] | None, api: str) -> None:
    deadline = time.monotonic() + SERVER_START_SECONDS
    while process is not None and process.poll() is None and time.monotonic() < deadline:
        if answers(api):
            return
        time.sleep(POLL_SECONDS)
    raise RuntimeError("Prefect's temporary server did not start; the same command tries again")


def end_with_us(pid: int, *, group: bool = False) -> None:
    """End our child `pid` when this process ends, even by kill -9, which leaves no time to do it ourselves.

    With `group` the child leads a process group, all of which is ended.
    A child that ends before us keeps its number until then, so no other process can have it.
    """
    _watchers.append(
        subprocess.Popen(
            ["/bin/sh", "-c", WATCHER, "watcher", f"-{pid}" if group else str(pid)],
            stdin=subprocess.PIPE,  # we never write; the kernel closes it with us
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is not for it
        )
    )
