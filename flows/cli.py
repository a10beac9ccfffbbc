"""The command line `alphago`. Everything heavy is imported inside the commands, so that `--help` is quick."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from flows import instruments
from tasks import bootstrap
from tasks.errors import UserError
from tasks.interruption import TrainingInterrupted
from tasks.reporting import break_line

PROGRAM = "alphago"
PROFILES = "demo|laptop|paper"
USAGE_STATUS, FAILURE_STATUS, INTERRUPT_STATUS = 2, 1, 130
TERMINATED_STATUS = 128 + signal.SIGTERM

app = typer.Typer(
    name=PROGRAM,
    help="AlphaGo as a pipeline: run its stages, look at what came out, play against it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(instruments.app, name="inspect")


DebugOption = Annotated[bool, typer.Option("--debug", help="Show tracebacks and the libraries' log lines.")]


@app.callback()
def _options(debug: DebugOption = False) -> None:
    if debug:
        os.environ[bootstrap.DEBUG_VARIABLE] = "1"
    bootstrap.apply()


@app.command()
def run(
    stage: Annotated[str, typer.Argument(help="A stage (see `alphago describe`) or `pipeline`.")],
    profile: Annotated[str, typer.Option(metavar=PROFILES, help="Which settings to start from.")] = "demo",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter, dotted when nested; may be repeated."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=REF",
            help="An input: a path, an MLflow run id, or a registered model (name[@alias|/version]).",
        ),
    ] = None,
    from_stage: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="STAGE", help="Do this stage and what depends on it again, reuse the rest."
        ),
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Run one stage, or the whole pipeline."""
    _options(debug)
    bootstrap.make_home()
    bootstrap.use_running_server()
    from flows.run import run_from_command_line

    print(run_from_command_line(stage, profile, settings or [], inputs or [], from_stage))


@app.command()
def describe(
    stage: Annotated[str | None, typer.Argument(help="A stage; without one, all are listed.")] = None,
    profile: Annotated[str, typer.Option(metavar=PROFILES, help="Whose values to show.")] = "demo",
) -> None:
    """List the stages, or one stage's inputs, outputs and parameters with values and bounds."""
    from flows.describe import describe_stage, list_stages

    print(describe_stage(stage, profile) if stage else list_stages())


@app.command()
def experiment(
    name: Annotated[
        str, typer.Argument(help="accuracy-table | overfitting | value-by-stage | variants | search-scaling")
    ],
    profile: Annotated[str, typer.Option(metavar=PROFILES, help="Which settings to start from.")] = "demo",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter, dotted when nested; may be repeated."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=REF", help="An input; the newest of the profile without."),
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Run one of the paper's side studies on finished stages; `alphago report` shows it."""
    _options(debug)
    bootstrap.make_home()
    from flows.experiments import run_experiment

    print(run_experiment(name, profile, settings or [], inputs or []))


@app.command()
def lineage(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REF",
            help="A stage's name, a run id, a registered model, a work folder, or a file in one.",
        ),
    ],
    debug: DebugOption = False,
) -> None:
    """Print where a model or dataset comes from, down to the digests of the files it all began with."""
    _options(debug)
    bootstrap.make_home()
    from tasks.ancestry import lineage_text

    print(lineage_text(reference))


@app.command()
def report(
    reference: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="REF",
            help="A pipeline's run id or folder, or a stage's run, folder, model or name: it and what it "
            "came from. Without: the newest pipeline.",
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Folder of the page; without, one in the home.")] = None,
    debug: DebugOption = False,
) -> None:
    """Write a page with the paper's tables and figures beside ours, from what the runs logged."""
    _options(debug)
    from tasks.report import write_report

    for path in write_report(reference, out):
        print(path)


@app.command()
def ui(
    mlflow_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the MLflow UI.")] = 5000,
    prefect_port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the Prefect server.")] = 4200,
) -> None:
    """Serve MLflow's and Prefect's pages on this machine over the stores of this home, until Ctrl-C."""
    bootstrap.make_home()
    from flows.ui import serve

    serve(mlflow_port, prefect_port)


@app.command()
def gtp(
    player: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="random | rollout[:REF] | policy[:REF] | search[:policy=REF,...] | gtp:COMMAND",
        ),
    ],
    size: Annotated[int | None, typer.Option(min=2, max=19, help="Board size until `boardsize`.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the player's choices; else of chance.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a search.")] = 1,
) -> None:
    """Play over the Go Text Protocol on stdin and stdout, for Sabaki, GoGui and other programs."""
    from flows.gtp import serve_gtp

    serve_gtp(player, size, seed, threads)


@app.command()
def analyze(
    game: Annotated[Path, typer.Argument(help="An SGF, GIB or NGF file; its first game is taken.")],
    move: Annotated[int, typer.Option(min=0, help="Look at the position after so many moves.")],
    player: Annotated[str, typer.Option(metavar="SPEC", help="A search: search[:policy=REF,...]")] = "search",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; named after game and move without.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the search.")] = 1,
) -> None:
    """Show what a search thinks of a position: the paper's Fig. 5, and the tree as JSON and SGF."""
    from tasks.analysis import analyze as analyze_position

    folder = out or Path(f"{game.stem}-move-{move}")
    for path in analyze_position(game, move, player, folder, seed, threads).values():
        print(path)


@app.command()
def fetch(
    source: Annotated[
        str, typer.Argument(help="kgs | kgs-4d | the address of an archive, or of a page that links to some.")
    ],
    folder: Annotated[
        Path, typer.Argument(help="Where the archives go; what is there is not fetched again.")
    ],
    pause: Annotated[float, typer.Option(min=0.0, help="Seconds between two requests.")] = 2.0,
    debug: DebugOption = False,
) -> None:
    """Download archives of game records; a broken download goes on where it stopped."""
    _options(debug)
    from datasets.fetch import Manners
    from datasets.fetch import fetch as fetch_archives

    found = fetch_archives(source, folder, Manners(pause=pause))
    print(f"{len(found)} archives, {sum(one.bytes for one in found):,} bytes in {folder}")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__


def _terminated(*_: Any) -> NoReturn:
    raise SystemExit(TERMINATED_STATUS)


def run_app(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status. Errors are one line on stderr unless debugging."""
    try:
        returned = app(arguments, prog_name=PROGRAM, standalone_mode=False)
    except UserError as error:
        return _complain(error, USAGE_STATUS)
    except (KeyboardInterrupt, typer.Abort, TrainingInterrupted):
        returned = INTERRUPT_STATUS
    except SystemExit as stop:
        return _complain(Exception("terminated; the same command goes on from here"), _status_of(stop))
    except BrokenPipeError:
        # Whoever read our output has left; give the interpreter's last flush a place to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE_STATUS
    except Exception as error:
        # Typer's own complaints; their classes are private, their form is not.
        if type(error).__name__ == "NoArgsIsHelpError":  # `alphago` alone
            print(error)
            return USAGE_STATUS
        if message := getattr(error, "format_message", None):
            return _complain(Exception(message() or "see alphago --help"), USAGE_STATUS)
        return _complain(error, FAILURE_STATUS)
    if returned == INTERRUPT_STATUS:
        return _complain(Exception("interrupted; the same command goes on from here"), INTERRUPT_STATUS)
    return returned if isinstance(returned, int) else 0


def _status_of(stop: SystemExit) -> int:
    return stop.code if isinstance(stop.code, int) else FAILURE_STATUS


def _complain(error: BaseException, status: int) -> int:
    break_line()
    if os.environ.get(bootstrap.DEBUG_VARIABLE):
        traceback.print_exception(error)
    print(f"{PROGRAM}: {_one_line(error)}", file=sys.stderr)
    return status


def main() -> None:
    """Entry point of the `alphago` command."""
    sys.path.insert(0, str(Path(bootstrap.SOURCE_ROOT)))
    signal.signal(signal.SIGTERM, _terminated)
    status = run_app()
    logging.shutdown()
    sys.exit(status)


if __name__ == "__main__":
    main()
