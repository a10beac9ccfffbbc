"""MLflow's store keeps absolute addresses of its artifacts; here they follow a home that was moved.

SQL on MLflow's tables, because MLflow itself offers no way to change where an artifact lies. The columns are
those of the pinned 3.17; one that is missing is passed over.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlparse

from tasks.bootstrap import LOGGER

ADDRESSES = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "storage_location"),
)
BUSY_SECONDS = 30.0

log = logging.getLogger(f"{LOGGER}.tracking")


def follow_home(database: Path, experiment: str, artifacts: Path) -> bool:
    """Where `experiment` still has its artifacts at an older place, put `artifacts` in its stead.

    Only when they do lie in `artifacts`: a location that somebody chose on purpose stays. Returns whether
    anything was changed. All addresses change together or none does.
    """
    if not database.is_file() or not artifacts.is_dir():
        return False
    with closing(sqlite3.connect(database, timeout=BUSY_SECONDS)) as connection, connection:
        old, new = _location(connection, experiment), artifacts.as_uri()
        if old is None or old == new or not old.startswith("file:") or _path(old).exists():
            return False
        for table, column in ADDRESSES:
            if _has(connection, table, column):
                connection.execute(
                    f"UPDATE {table} SET {column} = ? || substr({column}, ?)"
                    f" WHERE {column} = ? OR substr({column}, 1, ?) = ?",
                    (new, len(old) + 1, old, len(old) + 1, f"{old}/"),
                )
    log.info("the home was moved: MLflow's artifacts are now looked for in %s", artifacts)
    return True


def _location(connection: sqlite3.Connection, experiment: str) -> str | None:
    if not _has(connection, "experiments", "artifact_location"):
        return None
    found = connection.execute("SELECT artifact_location FROM experiments WHERE name = ?", (experiment,))
    row = found.fetchone()
    return str(row[0]) if row else None


def _path(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    return column in {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
