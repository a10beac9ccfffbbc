"""`alphago ui`: MLflow's and Prefect's pages on loopback, over the stores of this home."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from flows.temporary_server import end_with_us
from tasks.bootstrap import HOST, home, server_file, tracking_uri
from tasks.errors import UserError
from tasks.store import write_text

START_SECONDS = 180.0
POLL_SECONDS = 0.5
STOP_SECONDS = 10.0


def serve(mlflow_port: int, prefect_port: int) -> None:
    """Start both, print their addresses, and end both when interrupted or when one of them ends."""
    for port in (mlflow_port, prefect_port):
        _refuse_taken(port)
    experiment = _experiment()  # makes MLflow's tables, so that its server finds them
    logs = home() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    started = {"MLflow": _start_mlflow(mlflow_port, logs), "Prefect": _start_prefect(prefect_port, logs)}
    try:
        _wait_until_up(started["MLflow"], f"http://{HOST}:{mlflow_port}/health", "MLflow", logs)
        _wait_until_up(started["Prefect"], f"http://{HOST}:{prefect_port}/api/health", "Prefect", logs)
        write_text(
            server_file(), json.dumps({"api": f"http://{HOST}:{prefect_port}/api", "pid": os.getpid()})
        )
        print(
            f"MLflow   http://{HOST}:{mlflow_port}/#/experiments/{experiment}/runs?workflowType=machine_learning\n"
            f"Prefect  http://{HOST}:{prefect_port}/\n"
            "Ctrl-C ends both.",
            flush=True,
        )
        while True:
            for name, process in started.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} has ended by itself; see {logs}")
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        print()
    finally:
        server_file().unlink(missing_ok=True)
        _stop(list(started.values()))


def _experiment() -> str:
    from tasks.mlflow_store import experiment_id

    return experiment_id()


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            raise UserError(
                f"port {port} is in use; choose others with --mlflow-port and --prefect-port"
            ) from None


def _start_mlflow(port: int, logs: Path) -> subprocess.Popen[bytes]:
    command = ["-m", "mlflow", "ui", "--host", HOST, "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", tracking_uri()]
    return _start(command, logs / "mlflow.log", {})


def _start_prefect(port: int, logs: Path) -> subprocess.Popen[bytes]:
    # The port has to stand in the environment: given as an option only, the page looks for its API elsewhere.
    environment = {
        "PREFECT_SERVER_API_HOST": HOST,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_API_URL": f"http://{HOST}:{port}/api",
    }
    return _start(["-m", "prefect", "server", "start"], logs / "prefect.log", environment)


def _start(arguments: list[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A process group of its own: Ctrl-C reaches only us, and we end the children in order."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ | environment,
            start_new_session=True,
        )
    end_with_us(process.pid, group=True)
    return process


def _wait_until_up(process: subprocess.Popen[bytes], url: str, name: str, logs: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(POLL_SECONDS)
    raise RuntimeError(f"{name} did not start; see {logs}")


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
