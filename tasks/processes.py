"""Training in several processes of this machine: started here, watched over a pipe, stopped by a signal.

The processes train and leave the training's state in the work folder; the caller goes on from there as from
any interrupted training, finds all steps done and scores the network. On several machines start the same
module on each, with a folder that all of them see:

    torchrun --nnodes=2 --nproc-per-node=8 --rdzv-endpoint=HOST:29400 -m tasks.training_worker REQUEST.json
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tasks import distributed
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted, stop_on_signal
from tasks.params import TrainingParams
from tasks.reporting import Reporter

REQUEST_FILE = "training-request.json"
ROOT = Path(__file__).resolve().parent.parent


def train_in_processes(
    stage: str, params: TrainingParams, inputs: dict[str, Path], folder: Path, run: Reporter
) -> None:
    """Train to the end in params.compute.processes processes; their state is in `folder` afterwards.

    Raises what the leading process raised: UserError or TrainingInterrupted; RuntimeError when one died.
    """
    request = write_request(stage, params, inputs, folder)
    count = params.compute.processes
    threads = max(1, distributed.thread_count(params.threads) // count)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}"]
    command += ["-m", "tasks.training_worker", str(request)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": path}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
    )
    with process, stop_on_signal(process.terminate):
        assert process.stdout is not None
        for line in process.stdout:
            listen(json.loads(line), run)
    request.unlink(missing_ok=True)
    if process.returncode:
        raise RuntimeError(f"a training process ended with an error (status {process.returncode}), see above")


def write_request(stage: str, params: TrainingParams, inputs: dict[str, Path], folder: Path) -> Path:
    """What the processes are to do, as a file in the work folder; it stays there until they have done it."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: str(path) for name, path in inputs.items()}
    told = {"stage": stage, "params": params.model_dump(mode="json"), "inputs": paths, "folder": str(folder)}
    (folder / REQUEST_FILE).write_text(json.dumps(told), encoding="utf-8")
    return folder / REQUEST_FILE


def listen(told: dict[str, Any], run: Reporter) -> None:
    """Pass on what a process told, or raise what it raised."""
    match told["what"]:
        case "metrics":
            run.log_metrics(told["metrics"], told["step"])
        case "progress":
            run.progress(told["done"], told["total"], told["note"])
        case "refused":
            raise UserError(told["message"])
        case "interrupted":
            raise TrainingInterrupted(told["message"])
