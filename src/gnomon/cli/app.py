"""The commands. Each reads its arguments, calls the library, and shows what came of it.

Exit codes: 0 all is well, 2 wrong use (an unknown option, model, task or column), 3 bad data (a file that is
missing or malformed, a target with nothing to predict), 130 stopped by Ctrl-C or a signal to terminate: a
comparison then writes the report of what it knows, if it knows anything.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from gnomon.cli.screen import STOPPED, Screen, guarded, stoppable

LEAST_TIME = 1.0  # seconds that are left for the work, however long loading the library took

app = typer.Typer(
    name="gnomon",
    help="Classical machine learning for tables: compare, fit, predict, explain, watch.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 ok, 2 wrong use, 3 bad data.",
)

Data = Annotated[Path, typer.Argument(help="A CSV, TSV, Parquet or Arrow file.", show_default=False)]
ModelFile = Annotated[
    Path, typer.Argument(help="A file written by compare, fit or gnomon.save.", show_default=False)
]
ModelName = Annotated[str, typer.Argument(help="A model of the library, such as KMeans.", show_default=False)]
Target = Annotated[str | None, typer.Option(help="The column to predict.", show_default=False)]
Task = Annotated[
    str | None,
    typer.Option(
        help="What is asked, where the target does not tell: cluster, density, sequence, topics, recommend, rules."
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(help="More words for a missing value, with commas.", metavar="WORDS", show_default=False),
]
Sequence = Annotated[str | None, typer.Option(help="Task sequence: the column that names a row's sequence.")]
Seed = Annotated[int, typer.Option(help="Same seed, same answer.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the model: --set alpha=0.1", metavar="NAME=VALUE"),
]


def _version(wanted: bool) -> None:
    if wanted:
        from gnomon import __version__

        typer.echo(f"gnomon {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Classical machine learning for tables: compare, fit, predict, explain, watch."""


@app.command()
@guarded
def compare(
    data: Data,
    target: Target = None,
    task: Task = None,
    models: Annotated[
        str | None,
        typer.Option(help="Names with commas between them; else all on the menu.", show_default=False),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="What decides: accuracy, balanced_accuracy, auc, average_precision, log_loss, brier, f1; "
            "rmse, mae, r2, pinball@0.9, poisson. Else what suits the target.",
            show_default=False,
        ),
    ] = None,
    exclude: Annotated[
        str | None, typer.Option(help="Columns that no model may see, with commas.", show_default=False)
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column whose rows of one value stay together.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="A column of dates: learn from earlier rows, test on later.", show_default=False),
    ] = None,
    missing: Missing = None,
    sequence: Sequence = None,
    min_support: Annotated[
        float | None,
        typer.Option(help="Task rules: share of baskets a set must be in; else chosen.", show_default=False),
    ] = None,
    min_confidence: Annotated[
        float, typer.Option(help="Task rules: least confidence.", min=0.0, max=1.0)
    ] = 0.5,
    time_budget: Annotated[
        float,
        typer.Option(
            "--time-budget", "--budget", help="Seconds in all; the strongest models go first.", min=0
        ),
    ] = 300.0,
    folds: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 5,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for report.html and best.gnomon.")] = Path(
        "gnomon-report"
    ),
    json: Json = False,
) -> None:
    """Compare models on a table, or look for rules in baskets; write a report and the best model."""
    begin = monotonic()
    from gnomon.cli.showing import show_comparison
    from gnomon.report.contest import compare as run

    screen = Screen(json)
    if out.exists() and not out.is_dir():
        raise typer.BadParameter(f"{out} is a file; give a folder", param_hint="--out")
    check_writable(out, "report.html", "best.gnomon")
    if task == "rules":
        from gnomon.cli.showing import show_rules
        from gnomon.report.rules import find_rules

        with screen.progress("reading") as watch:
            found = find_rules(data, min_support=min_support, min_confidence=min_confidence, watch=watch)
        show_rules(screen, found, found.write(out))
        return
    with stoppable(), screen.progress("reading") as watch:
        result = run(
            data, target, task=task, models=listed(models), metric=metric, exclude=listed(exclude), group=group,
            time_column=time, missing=listed(missing), sequence=sequence, folds=folds, random_state=seed,
            time_budget=_left(time_budget, begin), watch=watch,
        )  # fmt: skip
        result.time_budget = time_budget
        watch("the page is made", 1, 1)
        paths = _written(result, out)
    show_comparison(screen, result, paths)
    if result.interrupted:
        raise typer.Exit(STOPPED)


@app.command()
@guarded
def fit(
    model: ModelName,
    data: Data,
    target: Target = None,
    sequence: Sequence = None,
    set: Set = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Where the model goes.")] = Path("model.gnomon"),
    json: Json = False,
) -> None:
    """Fit one model to a table and save it."""
    import gnomon
    from gnomon.cli.showing import show_card, treatment
    from gnomon.report.card import card
    from gnomon.report.single import prepare
    from gnomon.report.tables import read_table

    screen = Screen(json)
    check_folder(out)
    job = prepare(model, read_table(data), target, sequence=sequence, settings=parse(set), random_state=seed)
    fitted = job.model.fit(job.problem.frame, job.problem.y)
    gnomon.save(fitted, out)
    for line in [*job.problem.said, *treatment(job.problem)]:
        screen.say(line)
    show_card(screen, {**card(fitted), "file": str(out)})


@app.command()
@guarded
def predict(
    model: ModelFile,
    data: Data,
    out: Annotated[
        Path | None, typer.Option(help="A CSV, TSV or Parquet file; else CSV on the screen.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class or group.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add the ends of an interval of this level.", min=0.0, max=1.0)
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Two classes: the probability from which on a row is positive.", min=0.0, max=1.0),
    ] = None,
    json: Json = False,
) -> None:
    """Predict for the rows of a table with a saved model; to a file a part at a time, however large."""
    from gnomon.cli.showing import show_predictions, show_written
    from gnomon.report.serving import can_stream, predict_file, read_for
    from gnomon.report.single import load_model, predictions

    check_folder(out)
    loaded = load_model(model)
    options = {"proba": proba, "interval": interval, "threshold": threshold}
    if can_stream(loaded, data, out):
        show_written(Screen(json), *predict_file(loaded, data, out, **options), out)
        return
    table, remarks = predictions(loaded, read_for(loaded, data), **options)
    show_predictions(Screen(json), table, remarks, out)


@app.command()
@guarded
def explain(
    model: ModelFile,
    data: Annotated[Path | None, typer.Argument(help="A table, to explain the answer for one row.")] = None,
    row: Annotated[int | None, typer.Option(help="Which row of the table; the first is 1.", min=1)] = None,
    json: Json = False,
) -> None:
    """Show the card of a saved model; with a table, what each column adds to the answer for one row."""
    from gnomon.cli.showing import show_card, show_row
    from gnomon.report.card import card
    from gnomon.report.single import load_model

    if data is not None:
        from gnomon.report.serving import explain_row, read_for

        loaded = load_model(model)
        show_row(Screen(json), explain_row(loaded, read_for(loaded, data), row or 1), row or 1)
        return
    if row is not None:
        raise typer.BadParameter("give the table too: gnomon explain MODEL TABLE --row 3", param_hint="--row")
    show_card(Screen(json), card(load_model(model)))


@app.command()
@guarded
def watch(
    model: ModelName,
    data: Data,
    target: Target = None,
    set: Set = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="A GIF to write instead of drawing here.")] = None,
    steps: Annotated[int, typer.Option(help="At most so many steps.", min=1)] = 200,
    pause: Annotated[float, typer.Option(help="Seconds between steps on a terminal.", min=0.0)] = 0.15,
    json: Json = False,
) -> None:
    """Watch a model learn, step by step."""
    from gnomon.cli.watching import watch_fit
    from gnomon.report.single import prepare
    from gnomon.report.tables import read_table

    check_folder(out)
    job = prepare(model, read_table(data), target, settings=parse(set), random_state=seed)
    watch_fit(Screen(json), job, steps, pause, out)


@app.command()
@guarded
def lab(
    scene: Annotated[
        str | None, typer.Argument(help="A model, a lesson, or a table to open at once.", show_default=False)
    ] = None,
    target: Target = None,
    port: Annotated[
        int, typer.Option(help="Where to listen, on this machine alone.", min=0, max=65535)
    ] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    json: Json = False,
) -> None:
    """Watch any model learn in a browser, with the hand on the step."""
    screen = Screen(json)
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise typer.BadParameter("the lab needs Starlette and uvicorn: pip install 'gnomon[lab]'")
    from gnomon.lab import serve

    def announce(address: str) -> None:
        screen.say(f"{address}\nCtrl-C ends it.")
        screen.result({"address": address})
        sys.stdout.flush()

    serve(scene, target=target, port=port, open_browser=browser, announce=announce)


@app.command()
@guarded
def models(
    topic: Annotated[
        list[str] | None, typer.Argument(help="Words to look for; everything when left out.")
    ] = None,
    json: Json = False,
) -> None:
    """List what the library has, by name or by topic of a course."""
    from gnomon.cli.showing import show_topics
    from gnomon.report.topics import search

    show_topics(Screen(json), " ".join(topic or []), search(" ".join(topic or [])))


@app.command("warm-up")
@guarded
def warm_up(
    families: Annotated[list[str] | None, typer.Argument(help="Such as cluster; all when left out.")] = None,
    float32: Annotated[bool, typer.Option("--float32", help="For rows of float32, too.")] = False,
    json: Json = False,
) -> None:
    """Compile the inner loops now, so that no first fit has to wait."""
    import gnomon
    from gnomon._warm import families_with_loops

    screen, known = Screen(json), families_with_loops()
    for name in families or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} has no loops to compile; there are {', '.join(known)}")
    with screen.progress("compiling (once)") as tell, gnomon.progress(tell):
        spent = gnomon.warm_up(
            *(families or known), dtypes=("float64", "float32") if float32 else ("float64",)
        )
    for name, seconds in spent.items():
        screen.say(f"{name:15} {seconds:6.1f} s")
    screen.result({"seconds": spent})


def _written(result: Any, out: Path) -> Any:
    """Write what was found; who stops it here wants it to end soon, not to lose it, unless it is stopped once more."""
    try:
        return result.write(out)
    except KeyboardInterrupt:
        result.interrupted = True
        return result.write(out)


def _left(budget: float, begin: float) -> float:
    """Return what is left of the time after the library was loaded."""
    return max(min(budget, LEAST_TIME), budget - (monotonic() - begin))


def listed(words: str | None) -> list[str] | None:
    """Return words with commas between them as a list.

    >>> listed("a, b")
    ['a', 'b']
    """
    return None if words is None else [word.strip() for word in words.split(",") if word.strip()]


def check_folder(out: Path | None) -> None:
    """Refuse a file that could not be written at the end before any work is done."""
    if out is None:
        return
    if not out.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {out.parent}", param_hint="--out")
    if out.is_dir():
        raise typer.BadParameter(f"{out} is a folder; give the name of a file", param_hint="--out")
    check_writable(out.absolute().parent, out.name)


def check_writable(out: Path, *names: str) -> None:
    """Refuse a folder in which nothing can be written, or whose files are protected, before any work is done."""
    there = next(folder for folder in [out.absolute(), *out.absolute().parents] if folder.exists())
    if not os.access(there, os.W_OK):
        raise typer.BadParameter(f"nothing can be written in {there}", param_hint="--out")
    for path in (out / name for name in names):
        if path.is_file() and not path.stat().st_mode & 0o222:
            raise typer.BadParameter(
                f"{path} is there and may only be read; name another", param_hint="--out"
            )


def parse(settings: list[str] | None) -> dict[str, Any]:
    """Return settings given as name=value; values are Python literals, or words.

    >>> parse(["C=0.5", "solver=auto", "n_clusters=3"])
    {'C': 0.5, 'solver': 'auto', 'n_clusters': 3}
    """
    from ast import literal_eval

    parsed: dict[str, Any] = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise typer.BadParameter(f"{setting!r} is not of the form name=value", param_hint="--set")
        try:
            parsed[name] = literal_eval(value)
        except (ValueError, SyntaxError):
            parsed[name] = value
    return parsed
