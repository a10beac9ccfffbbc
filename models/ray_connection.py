"""Ray: a cluster that is there, or one of this machine alone that ends with this process."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

CONNECT_SECONDS = 10.0


def keep_on_loopback() -> None:
    """Ray's servers listen to all interfaces, also those of a cluster that is this machine alone.

    Must come before Ray is imported. The first variable is Ray's own switch for systems where it knows no
    clusters of several machines: it then binds 127.0.0.1.
    """
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    os.environ.setdefault("RAY_enable_metrics_collection", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


def connected(address: str, cpus: int | None = None) -> Any:
    """The module ray, connected to the cluster at `address`, or to one of this machine if that is empty.

    `cpus` is how many a cluster of this machine counts with; None: its cores. Raises ValueError when Ray is
    not installed or nothing answers at the address.
    """
    if not address:
        keep_on_loopback()
    try:
        import ray
    except ImportError:
        raise ValueError("ray is not installed (pip install .[cluster])") from None
    if not ray.is_initialized():
        _refuse_the_dead(address)
        local = {"address": "local", "include_dashboard": False, "num_cpus": cpus}
        where = {"address": address} if address else local
        try:
            ray.init(**where, log_to_driver=False, logging_level=logging.WARNING)
        except ConnectionError as error:
            raise ValueError(f"no Ray cluster answers at {address}: {error}") from error
    return ray


def _refuse_the_dead(address: str) -> None:
    """Ray itself would go on asking for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():  # none, or auto
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
            pass
    except OSError as error:
        raise ValueError(f"no Ray cluster answers at {address}: {error}") from error
