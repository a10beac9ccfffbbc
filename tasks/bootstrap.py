"""Settings of Prefect and MLflow, put into the environment before either is imported.

Everything that the product writes lies under one folder, its home. All settings are defaults: what the user
has set in the environment wins. This module stays free of heavy imports, because the command line calls it
first.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from tasks.errors import UserError
from tasks.reporting import break_line

HOME_VARIABLE = "ALPHAGO_HOME"
DEBUG_VARIABLE = "ALPHAGO_DEBUG"
LOGGER = "alphago"
SOURCE_ROOT = (
    Path(__file__).resolve().parent.parent
)  # holds flows/, tasks/, ...; the checkout in a development install
HOST = "127.0.0.1"  # nothing that we start listens to other machines
DATABASE = "mlflow.db"  # in the home
HEALTH_SECONDS = 10.0  # on a busy machine a server may be slow; where there is none, that shows at once
SERVER_START_SECONDS = 180  # Prefect's own 20 s are too few for the first start on a busy machine


def home() -> Path:
    """The folder of all state: $ALPHAGO_HOME, else .alphago in the checkout or the current folder."""
    given = os.environ.get(HOME_VARIABLE)
    if given:
        return Path(given).expanduser().resolve()
    in_checkout = (SOURCE_ROOT / "pyproject.toml").is_file()
    return (SOURCE_ROOT if in_checkout else Path.cwd()) / ".alphago"


def data_root() -> Path:
    """Where the stages' work folders lie: data_root()/<stage>/<key>."""
    return home() / "data"


def tracking_uri() -> str:
    """MLflow's store; absolute, so that no other current folder opens another one."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{home() / DATABASE}"


def server_file() -> Path:
    """Written while `alphago ui` runs: the address of its Prefect server."""
    return home() / "prefect-server.json"


def running_server() -> str | None:
    """The API of the Prefect server of this home, if it answers: a run then need not start its own."""
    try:
        api = str(json.loads(server_file().read_text(encoding="utf-8"))["api"])
    except (OSError, ValueError, KeyError):
        return None
    return api if answers(api) else None


def answers(api: str) -> bool:
    """Whether a Prefect server is up at this address."""
    from urllib.request import urlopen  # slow to import, and seldom needed

    try:
        with urlopen(f"{api}/health", timeout=HEALTH_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def use_running_server() -> None:
    """Let flow runs report to the server of `alphago ui`; call before Prefect is imported."""
    if "PREFECT_API_URL" not in os.environ and (api := running_server()):
        os.environ["PREFECT_API_URL"] = api


def apply() -> None:
    """Fill in the environment and quieten the libraries. Cheap, and harmless when called again."""
    root = home()
    debug = bool(os.environ.get(DEBUG_VARIABLE))
    defaults = {
        HOME_VARIABLE: str(root),
        "PREFECT_HOME": str(root / "prefect"),
        "PREFECT_RESULTS_LOCAL_STORAGE_PATH": str(root / "prefect" / "storage"),
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(SERVER_START_SECONDS),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # Our own log lines are printed by us; Prefect's console handler would print more of them, and a
        # traceback for every error that the command line tells in one line.
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
        "DO_NOT_TRACK": "1",
        # torch's threads sleep while they wait; if they spin, other work on the cores slows them tenfold
        "OMP_WAIT_POLICY": "PASSIVE",
        "MLFLOW_TRACKING_URI": tracking_uri(),
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false",
        "MLFLOW_LOGGING_LEVEL": "ERROR",
        "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",  # the work goes on without MLflow and must not wait for it
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
        "GIT_PYTHON_REFRESH": "quiet",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    if debug:
        os.environ["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "INFO"
    with suppress(OSError):  # make_home() complains, for commands that cannot do without
        (root / "prefect").mkdir(parents=True, exist_ok=True)  # Prefect itself makes only the last folder
    # A run id left in the environment would silently become the run that everything is logged to.
    os.environ.pop("MLFLOW_RUN_ID", None)
    _quieten(debug)


def make_home() -> None:
    """Raises UserError when nothing can be written there."""
    root = home()
    try:
        (root / "prefect").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{root}: cannot be written ({error.strerror}); choose another with {HOME_VARIABLE}"
        ) from None
    if not os.access(root, os.W_OK):
        raise UserError(f"{root}: cannot be written; choose another with {HOME_VARIABLE}")


def _quieten(debug: bool) -> None:
    """Our log lines on stderr as they are; of libraries only errors, unless debugging."""
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    logger.propagate = False
    if not any(isinstance(handler, _StderrHandler) for handler in logger.handlers):
        handler = _StderrHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    logging.raiseExceptions = debug  # a log line that cannot reach Prefect's server is not worth a traceback
    if not debug:
        for name in ("mlflow", "alembic", "matplotlib", "prefect.server"):
            logging.getLogger(name).setLevel(logging.ERROR)
        warnings.filterwarnings(
            "ignore", module=r"(mlflow|prefect|pydantic|fastapi|starlette|websockets)(\..*)?"
        )


class _StderrHandler(logging.StreamHandler):
    """Writes to whatever sys.stderr is now, not to what it was at import (test runners replace it)."""

    def emit(self, record: logging.LogRecord) -> None:
        break_line()
        self.stream = sys.stderr
        super().emit(record)
