"""`alphago inspect`: instruments for looking into a training before it is trusted with weeks.

Imported by the command line; what is heavy is imported inside the commands.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tasks import bootstrap
from tasks.errors import UserError

if TYPE_CHECKING:
    from tasks.instruments import Subject

INPUT = {"train-sl-policy": "positions", "train-value-network": "value_set"}  # of the stages that train
SHOWN_STEPS = 10  # of an overfitting, at most

app = typer.Typer(
    help="Look into a training: a row as a board, one batch learnt by heart, learning rates, a checkpoint.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Stage = Annotated[str, typer.Argument(metavar="STAGE", help=" | ".join(INPUT))]
Profile = Annotated[str, typer.Option(metavar="demo|laptop|paper", help="Which settings to start from.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter; may be repeated.")
]
Data = Annotated[
    str, typer.Option("--input", metavar="REF", help="The training data; without, the newest of the profile.")
]
Steps = Annotated[int, typer.Option(min=1, help="Steps of a training.")]


@app.command()
def row(
    stage: Stage,
    number: Annotated[int, typer.Option(min=0, help="Which row, from 0, in the order of training.")] = 0,
    profile: Profile = "demo",
    settings: Settings = None,
    data: Data = "",
) -> None:
    """Show a row of the training data as a board, with its planes counted and the move to learn."""
    about = _subject(stage, profile, settings, data)
    from tasks.instruments import training_row

    print(training_row(about, number))


@app.command()
def overfit(
    stage: Stage,
    steps: Steps = 200,
    profile: Profile = "demo",
    settings: Settings = None,
    data: Data = "",
) -> None:
    """Learn the first batch by heart: the loss of a sound set-up goes to almost nothing."""
    about = _subject(stage, profile, settings, data)
    from tasks.instruments import overfit_batch
    from tasks.reporting import NullReporter

    curve = overfit_batch(about, steps, NullReporter())
    every = max(1, len(curve) // SHOWN_STEPS)
    shown = curve[::every] if curve[-1] in curve[::every] else [*curve[::every], curve[-1]]
    print(f"{'step':>8}  {about.metric:>8}")
    for point in shown:
        print(f"{point['step']:8.0f}  {point[about.metric]:8.4f}")


@app.command("learning-rates")
def learning_rates(
    stage: Stage,
    rates: Annotated[
        str, typer.Option(help="Learning rates, separated by commas.")
    ] = "0.001,0.003,0.01,0.03",
    steps: Steps = 200,
    profile: Profile = "demo",
    settings: Settings = None,
    data: Data = "",
    figure: Annotated[Path | None, typer.Option(help="Write a figure of the losses there (.png).")] = None,
) -> None:
    """Train a fresh network a little with each learning rate and say which ends lowest."""
    tried = _numbers(rates)
    about = _subject(stage, profile, settings, data)
    from tasks.instruments import sweep_learning_rate
    from tasks.reporting import NullReporter

    found = sweep_learning_rate(about, tried, steps, NullReporter())
    print(found.text())
    if figure:
        found.figure().savefig(figure)


@app.command()
def checkpoint(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="A model: a file, a run, a registered one.")
    ],
) -> None:
    """Tell a checkpoint's layers, sizes and costs, and what its maker wrote into it."""
    from tasks.instruments import checkpoint_text
    from tasks.references import resolve_any
    from tasks.store import StageResult
    from tasks.tracking import find_model

    found = resolve_any(reference, find_model)
    if not isinstance(found, StageResult):
        print(checkpoint_text(Path(found.path)))
        return
    models = [name for name, made in found.outputs.items() if made.kind == "model"]
    if len(models) != 1:
        raise UserError(
            f"{found.stage} made {len(models)} models; name a file: {', '.join(models) or 'none'}"
        )
    print(checkpoint_text(found.path(models[0])))


def _subject(stage: str, profile: str, settings: list[str] | None, data: str) -> Subject:
    """The training that the options describe. Raises UserError for what was asked wrongly."""
    bootstrap.apply()
    if stage not in INPUT:
        raise UserError(f"no training {stage!r}; there are {', '.join(INPUT)}")
    from flows.params import parse_settings, stage_params
    from tasks.references import Scope, resolve
    from tasks.tracking import find_model

    params: Any = stage_params(stage, profile, parse_settings(settings or []))
    taken = resolve(INPUT[stage], data, Scope(profile, params.board_size), find_model)
    from tasks.instruments import subject

    return subject(params, Path(taken.path))


def _numbers(text: str) -> list[float]:
    try:
        rates = [float(part) for part in text.split(",")]
    except ValueError:
        raise UserError(f"--rates {text}: not numbers separated by commas") from None
    if not all(rate > 0 for rate in rates):
        raise UserError(f"--rates {text}: a learning rate is above 0")
    return rates
