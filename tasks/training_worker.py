"""One of several processes that train one network, started by torchrun with a request of `tasks.processes`.

The leading one tells its parent what happens, a line of JSON on standard output each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tasks import distributed
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.params import TrainSlPolicyParams, TrainValueNetworkParams
from tasks.reporting import NullReporter, Reporter
from tasks.train_sl_policy import train_policy
from tasks.train_value_network import train_value


class PipeReporter(NullReporter):
    """Tells metrics and progress on standard output."""

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        tell("metrics", metrics=metrics, step=step)

    def progress(self, done: float, total: float, note: str = "") -> None:
        tell("progress", done=done, total=total, note=note)


def tell(what: str, **more: Any) -> None:
    print(json.dumps({"what": what, **more}), flush=True)


def work(request: dict[str, Any], run: Reporter) -> None:
    """Do this process's part of the training."""
    inputs = {name: Path(path) for name, path in request["inputs"].items()}
    folder = Path(request["folder"])
    if request["stage"] == "train-sl-policy":
        train_policy(TrainSlPolicyParams.model_validate(request["params"]), inputs, folder, run)
    else:
        train_value(TrainValueNetworkParams.model_validate(request["params"]), inputs, folder, run)


def main(path: Path) -> None:
    request = json.loads(path.read_text(encoding="utf-8"))
    with distributed.process_group():
        leads = distributed.leads()
        say: Callable[..., None] = tell if leads else (lambda *_, **__: None)
        try:
            work(request, PipeReporter() if leads else NullReporter())
        except UserError as error:
            say("refused", message=str(error))
        except TrainingInterrupted as error:
            say("interrupted", message=str(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
