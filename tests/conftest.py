"""One home for the whole test session, in a temporary folder, set before Prefect or MLflow is imported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# A space and letters beyond ASCII, to find what cannot bear them.
_HOME = tempfile.TemporaryDirectory(prefix="alphago tests é 碁 ")
os.environ["ALPHAGO_HOME"] = _HOME.name
for _name in ("PREFECT_API_URL", "PREFECT_HOME", "MLFLOW_TRACKING_URI", "MLFLOW_RUN_ID"):
    os.environ.pop(_name, None)
if "PYTEST_XDIST_WORKER" in os.environ:  # the tests share the cores, so each uses one
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from tasks import bootstrap  # noqa: E402  (after the environment)

bootstrap.apply()


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A real Prefect server for the tests that run flows; takes some 20 s, so not for every test."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=bootstrap.SERVER_START_SECONDS):
        yield


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data root for one test; MLflow's store stays that of the session."""
    folder = tmp_path / "data"
    monkeypatch.setattr("tasks.bootstrap.data_root", lambda: folder)
    for module in ("tasks.store", "tasks.lineage"):
        monkeypatch.setattr(f"{module}.data_root", lambda: folder)
    return folder
