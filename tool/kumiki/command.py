"""The command line: what each command takes, and nothing else; the work is done by the modules it names.

Each command imports its modules itself: `kumiki run` must not wait for numpy and matplotlib.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kumiki import version as installed_version
from kumiki.cluster.command import app as cluster_app
from kumiki.errors import ExitCode, UserError, complain
from kumiki.hosts import options as where
from kumiki.machine.native import Native, replace_process
from kumiki.machine.topology import Machine
from kumiki.own import options as own
from kumiki.terminal.formats import Format, TableOrJson, write_csv, write_json_lines


class Commands(TyperGroup):
    """All commands; one that is interrupted ends with the documented code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None


app = typer.Typer(
    name="kumiki",
    cls=Commands,
    help="Measures what a machine or cluster can do, and runs programs over it. Exit codes: 0 ok, 1 a measurement or a "
    "validation failed, 2 usage, 3 environment not usable, 4 regression, 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(cluster_app)


class Evaluate(TyperCommand):
    """Tells `evaluate --`, whose command is missing, from `evaluate`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ends_with_marker = args[-1:] == ["--"]
        rest: list[str] = super().parse_args(ctx, args)
        if ends_with_marker and not ctx.params.get("command"):
            raise UserError("there is no command behind --: evaluate -- ./program {ranks}; without -- all suites run")
        return rest


class HandedOn(TyperCommand):
    """A command whose arguments are a native program's own: they are not looked at, not even --help or --."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return []


def _counts(text: str) -> tuple[int, ...]:
    """Reads a list of counts: 1,2,4."""
    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError:
        counts = ()
    if not counts or min(counts) < 1:
        raise typer.BadParameter(f"'{text}' is not a list of whole numbers from 1 up, such as 1,2,4")
    return tuple(dict.fromkeys(counts))


def _names(text: str) -> tuple[str, ...]:
    """Reads a list of names: memory,cg."""
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise typer.BadParameter(f"'{text}' is not a list of names, such as memory,cg")
    return names


def _positive(value: float | None) -> float | None:
    if value is not None and not value > 0:
        raise typer.BadParameter(f"{value:g} is not above 0")
    return value


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kumiki {installed_version()}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command("evaluate", cls=Evaluate, context_settings={"allow_interspersed_args": False})
def _evaluate(
    command: own.Command = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first impression in well under a minute.")] = False,
    suite: Annotated[
        Any | None,
        typer.Option(parser=_names, metavar="NAME,...", help="Only these suites (kumiki list); all: every one."),
    ] = None,
    ranks: Annotated[Any | None, typer.Option(parser=_counts, metavar="1,2,4", help="Numbers of ranks.")] = None,
    threads: Annotated[
        Any | None, typer.Option(parser=_counts, metavar="1,2", help="Numbers of threads of a rank.")
    ] = None,
    cluster: where.Cluster = None,
    named: where.Named = None,
    hostfile: where.File = None,
    remote_shell: where.RemoteShell = None,
    alone: where.Alone = False,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="NAME=PREFIX",
            help="Also beside the MPI or UCX that is installed there, called so; repeatable.",
        ),
    ] = None,
    output: Annotated[Path, typer.Option(metavar="DIR", help="Folder for results and report.")] = Path("report"),
    format: Annotated[Format, typer.Option(help="Tables as it goes, or all rows at the end.")] = Format.TABLE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the points and their commands; run nothing.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the evaluation in DIR.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Fixes the random order of the points.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", callback=_positive, help="End a point after this time, if its own limit is longer."
        ),
    ] = None,
    repeat: own.Repeat = None,
    metric: own.Metric = None,
    metric_name: own.MetricName = None,
    unit: own.Unit = None,
    better: own.BetterOption = None,
    sequential: own.Sequential = None,
    scaling: own.ScalingOption = None,
    size: own.Size = None,
    power: own.Power = None,
) -> None:
    """Measure this machine, a cluster, the nodes of a Slurm allocation, or a program of your own.

    It leaves results and a report, and ends with advice.

    Your own: kumiki evaluate -- mpirun -n {ranks} ./program. It runs over ranks and threads (--ranks, --threads), and
    the report tells its speed-up and efficiency, what limits it, and which setting to use.
    """
    from kumiki.evaluation.plan import Request, plan
    from kumiki.peers import installation, programs
    from kumiki.peers.named import named as named_peers
    from kumiki.terminal import listing

    options = own.Options(repeat, metric, metric_name, unit, better, sequential, scaling, size, power)
    program = options.program(command, quick, ranks, threads)
    places = where.Where(cluster, named, hostfile, remote_shell, alone)
    beside = named_peers(peer or ())
    if program is not None:
        _alone(suite, places, peer)
    native = Native.installed()
    machine = Machine.here(native)
    over = places.hosts(native) if program is None else None
    peers = installation.find(beside, native)
    request = Request(suite, quick, ranks, threads, output, resume, seed, time_limit, over, program, peers)
    cores = request.cores(machine)
    stages = plan(request, cores, seed or 0)  # refuses what cannot be measured before anything is written
    if dry_run:
        if program is not None:
            listing.print_runs(stages[0][1], native, cores, format)
        else:
            listing.print_plan(stages, native, cores, format)
            listing.print_left_out(request)
        return
    from kumiki.evaluation.evaluate import evaluate, open_folder
    from kumiki.terminal.display import Display, console
    from kumiki.terminal.ending import print_report

    if program is None:
        native.require(native.command("kumiki-run"))
    points = [point for _, members in stages for point in members]
    request = replace(request, peers=programs.ready(peers, points, native, machine.usable_cores(), complain))
    folder = open_folder(request, machine, native)
    listing.print_warnings(machine)
    code = evaluate(request, folder, machine, native, Display(tables=format is Format.TABLE and program is None))
    if code is ExitCode.INTERRUPTED:
        complain(f"interrupted; what was measured is in {output} (kumiki report {output}); go on with --resume")
        raise typer.Exit(code)
    rows = folder.content["rows"]
    if format is Format.JSON:
        write_json_lines(rows, sys.stdout)
    elif format is Format.CSV:
        write_csv(rows, sys.stdout)
    code = max(code, print_report(output, console(stderr=format is not Format.TABLE)))
    listing.print_left_out(request)
    raise typer.Exit(code)


def _alone(suite: object, places: where.Where, peers: object) -> None:
    """Refuses what is for suites beside a program of the user's own."""
    if suite is not None:
        raise typer.BadParameter("suites and a program of your own are evaluated apart", param_hint="--suite")
    if peers:
        raise typer.BadParameter(
            "peers are measured in suites; let your command itself name the launcher: -- PREFIX/bin/mpirun ...",
            param_hint="--peer",
        )
    if places.given is not None:
        raise typer.BadParameter(
            f"let the command itself start over hosts: -- kumiki run {places.given} -n {{ranks}} ...",
            param_hint=places.given.split()[0],
        )


@app.command("doctor")
def _doctor(format: Annotated[TableOrJson, typer.Option(help="How it is printed.")] = TableOrJson.TABLE) -> None:
    """Say what is missing or would disturb, and how to mend it.

    Also what this machine is. Takes no measurement.
    """
    from kumiki.doctor import examine
    from kumiki.doctor.view import print_diagnosis
    from kumiki.terminal.display import console

    native = Native.installed()
    diagnosis = examine(Machine.here(native), native)
    if format is TableOrJson.JSON:
        typer.echo(json.dumps(diagnosis.as_dict(), indent=1))
    else:
        print_diagnosis(diagnosis, console())
    raise typer.Exit(ExitCode.OK if diagnosis.usable else ExitCode.ENVIRONMENT)


@app.command("list")
def _list(format: Annotated[TableOrJson, typer.Option(help="How it is printed.")] = TableOrJson.TABLE) -> None:
    """List the suites and the programs they need.

    What each measures, its principal metrics, and whether its programs are there.
    """
    from kumiki.terminal import listing

    listing.print_suites(Native.installed(), format)


@app.command("report")
def _report(directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an evaluation.")]) -> None:
    """Write the report of an evaluation again."""
    from kumiki.results.files import results_file
    from kumiki.terminal.display import console
    from kumiki.terminal.ending import print_report

    raise typer.Exit(print_report(results_file(directory).parent, console()))


@app.command("compare")
def _compare(
    paths: Annotated[
        list[Path], typer.Argument(metavar="A B", help="Report folders or results.json files, two or more.")
    ],
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Leave a page in DIR with all of them side by side.")
    ] = None,
    fail_if_slower: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            min=0,
            help="Exit with 4 if any figure is significantly worse than A's by more than this.",
        ),
    ] = None,
    format: Annotated[TableOrJson, typer.Option(help="How it is printed.")] = TableOrJson.TABLE,
) -> None:
    """Compare two results, or set several side by side.

    Two: what became better or worse by more than chance, the worst first. Three or more, or --output: tables with a
    column for each platform, and what each is good for.
    """
    from kumiki.comparison import platforms, view
    from kumiki.comparison.compare import Side, compare
    from kumiki.terminal.display import console

    if len(paths) < 2:
        raise typer.BadParameter("name two results or more", param_hint="A B")
    if output is not None:
        platforms.check_folder(output)
    sides, names = [Side.load(path) for path in paths], platforms.labels(paths)
    changes = [compare(sides[0], other) for other in sides[1:]]
    if len(sides) == 2:
        view.print_both(changes[0], fail_if_slower, format)
    else:
        for name, change in zip(names[1:], changes, strict=True):
            view.warn(change, f"{names[0]} and {name}: ")
        if format is TableOrJson.JSON:
            for line in platforms.json_lines(names, sides, changes, fail_if_slower):
                typer.echo(line)
        else:
            platforms.print_tables(platforms.side_by_side(names, sides), console())
    if output is not None:
        page = platforms.write_page(platforms.side_by_side(names, sides), output)
        console(stderr=format is TableOrJson.JSON).print(f"Page: {page}", soft_wrap=True)
    if fail_if_slower is not None and view.complain_of_regressions(names, changes, fail_if_slower):
        raise typer.Exit(ExitCode.REGRESSION)


@app.command("tune")
def _tune(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer lengths and rounds.")] = False,
    cluster: where.Cluster = None,
    named: where.Named = None,
    hostfile: where.File = None,
    remote_shell: where.RemoteShell = None,
    alone: where.Alone = False,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where it is kept, instead of your configuration.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands; run nothing.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Fixes the random order of the lengths.")] = 0,
) -> None:
    """Measure which length of message fragments is best here, and keep it for the library.

    Between two ranks of this machine, or over hosts between the first two of them.
    """
    from kumiki.tune import store
    from kumiki.tune.sweep import Sweep
    from kumiki.tune.tuning import Tuning

    native = Native.installed()
    hosts = where.Where(cluster, named, hostfile, remote_shell, alone).hosts(native)
    tuning = Tuning(Sweep(hosts, quick), native, Machine.here(native), output or store.usual_file(), seed)
    if dry_run:
        tuning.print_commands()
    else:
        tuning.run()


@app.command("predict")
def _predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What to predict: maestro.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the model.")
    ] = None,
    parameters: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Parameters from a file: one JSON object.")
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="DIR", help="Leave a page with the figures in DIR.")] = None,
    format: Annotated[TableOrJson, typer.Option(help="How it is printed.")] = TableOrJson.TABLE,
) -> None:
    """Predict what a machine of the papers does, by a model of it.

    Published figures stand beside those predicted, and how far apart they are. Takes no measurement.
    """
    from kumiki.predict import command

    command.run(model, settings or [], parameters, output, format)


@app.command("run", cls=HandedOn)
def _run(ctx: typer.Context) -> None:
    """Run a program over ranks and threads (kumiki-run).

    With --cluster NAME in the first place, on the hosts of that cluster (kumiki cluster); with --slurm, on the nodes
    of this Slurm allocation.
    """
    from kumiki.hosts.launch import launcher_arguments

    _hand_on("kumiki-run", launcher_arguments(ctx.args))


@app.command("topology", cls=HandedOn)
def _topology(ctx: typer.Context) -> None:
    """Show what this machine is made of (kumiki-topology)."""
    _hand_on("kumiki-topology", ctx.args)


def _hand_on(name: str, arguments: list[str]) -> None:
    native = Native.installed()
    replace_process(native.require(native.command(name)), arguments)
