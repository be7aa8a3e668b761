"""The command line: only the arguments of each command; other modules do the work.

Each command imports its own modules, so that `kumiki run` does not wait for numpy and matplotlib.
"""

from __future__ import annotations

import json
import shlex
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
from kumiki.linpack.command import linpack
from kumiki.machine.native import Native, replace_process
from kumiki.machine.topology import Machine
from kumiki.own import options as own
from kumiki.terminal import values
from kumiki.terminal.formats import Format, TableOrJson, write_csv, write_json_lines


class Commands(TyperGroup):
    """All commands; an interrupted one ends with the documented code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None


app = typer.Typer(
    name="kumiki",
    cls=Commands,
    help="Measures what a machine or cluster can do, and runs programs on it. Exit codes: 0 success, 1 a measurement "
    "or a validation failed, 2 wrong usage, 3 the environment is not usable, 4 regression, 66 races found, "
    "130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(cluster_app)
app.command("linpack")(linpack)


class Evaluate(TyperCommand):
    """Distinguishes `evaluate --`, whose command is missing, from `evaluate`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ends_with_marker = args[-1:] == ["--"]
        rest: list[str] = super().parse_args(ctx, args)
        if ends_with_marker and not ctx.params.get("command"):
            raise UserError("there is no command after --: evaluate -- ./program {ranks}; without -- all suites run")
        return rest


class HandedOn(TyperCommand):
    """A command whose arguments are passed to a native program unread, including --help and --."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return []


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
    quick: Annotated[bool, typer.Option("--quick", help="Get a first impression in well under a minute.")] = False,
    suite: Annotated[
        Any | None,
        typer.Option(
            parser=values.names, metavar="NAME,...", help="Only these suites (kumiki list); all: every suite."
        ),
    ] = None,
    ranks: Annotated[
        Any | None, typer.Option(parser=values.counts, metavar="1,2,4", help="The numbers of ranks.")
    ] = None,
    threads: Annotated[
        Any | None, typer.Option(parser=values.counts, metavar="1,2", help="The numbers of threads per rank.")
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
            help="Also measure beside the MPI or UCX installed at PREFIX, under this name; repeatable.",
        ),
    ] = None,
    output: Annotated[Path, typer.Option(metavar="DIR", help="The folder for results and report.")] = Path("report"),
    format: Annotated[Format, typer.Option(help="Tables suite by suite, or all rows at the end.")] = Format.TABLE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the points and their commands without running them.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the evaluation in DIR.")] = False,
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Fix the random order of the points.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", callback=values.seconds, help="End a point after this time, if its own limit is longer."
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

    It writes results and a report, and ends with advice.

    Your own program: kumiki evaluate -- mpirun -n {ranks} ./program. It runs over ranks and threads (--ranks,
    --threads), and the report shows its speed-up and efficiency, what limits it, and which setting to use.
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
    stages = plan(request, cores, seed or 0)  # refuses impossible requests before anything is written
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
        complain(
            f"interrupted; the measurements so far are in {output} (kumiki report {shlex.quote(str(output))}); "
            "continue with --resume"
        )
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
    """Refuses options for suites together with the user's own program."""
    if suite is not None:
        raise typer.BadParameter("suites and a program of your own must be evaluated separately", param_hint="--suite")
    if peers:
        raise typer.BadParameter(
            "peers are measured in suites; let the command itself name the launcher: -- PREFIX/bin/mpirun ...",
            param_hint="--peer",
        )
    if places.given is not None:
        raise typer.BadParameter(
            f"let the command itself start the ranks over hosts: -- kumiki run {places.given} -n {{ranks}} ...",
            param_hint=places.given.split()[0],
        )


@app.command("doctor")
def _doctor(format: Annotated[TableOrJson, typer.Option(help="The output format.")] = TableOrJson.TABLE) -> None:
    """Report what is missing or would disturb a measurement, and how to fix it.

    It also describes this machine. It measures nothing.
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
def _list(format: Annotated[TableOrJson, typer.Option(help="The output format.")] = TableOrJson.TABLE) -> None:
    """List the suites and the programs they need.

    For each suite: what it measures, its main metrics, and whether its programs are installed.
    """
    from kumiki.terminal import listing

    listing.print_suites(Native.installed(), format)


@app.command("report")
def _report(directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an evaluation.")]) -> None:
    """Rewrite the report of an evaluation."""
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
        Path | None, typer.Option(metavar="DIR", help="Write a page to DIR with all of them side by side.")
    ] = None,
    fail_if_slower: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            min=0,
            help="Exit with 4 if any figure is significantly worse than A's by more than this.",
        ),
    ] = None,
    format: Annotated[TableOrJson, typer.Option(help="The output format.")] = TableOrJson.TABLE,
) -> None:
    """Compare two results, or set several side by side.

    Two: the figures that improved or got worse by more than chance, the worst first. Three or more, or --output: tables
    with a column for each platform, and what each is good for.
    """
    from kumiki.comparison import platforms, view
    from kumiki.comparison.compare import Side, compare
    from kumiki.terminal.display import console

    if len(paths) < 2:
        raise typer.BadParameter("name two or more results", param_hint="A B")
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
        Path | None, typer.Option(metavar="FILE", help="The file to save to, instead of your configuration.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands without running them.")] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Fix the random order of the lengths.")] = 0,
) -> None:
    """Measure which length of message fragments is best here, and save it for the library.

    It measures between two ranks of this machine, or between the first two hosts.
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
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model to run: maestro, linpack or compas.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter of the model.")
    ] = None,
    machine: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A machine described in a file (TOML), instead of the paper's.")
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a page with the figures to DIR.")] = None,
    format: Annotated[TableOrJson, typer.Option(help="The output format.")] = TableOrJson.TABLE,
) -> None:
    """Predict what a machine does, with a model of it: by default a machine from the papers.

    It prints the published (or measured) figures beside the predicted ones, with their deviation. It measures nothing.
    """
    from kumiki.predict import command

    command.run(model, settings or [], machine, output, format)


@app.command("run", cls=HandedOn)
def _run(ctx: typer.Context) -> None:
    """Run a program over ranks and threads (kumiki-run).

    With --cluster NAME as the first option it runs on the hosts of that cluster (kumiki cluster); with --slurm, on the
    nodes of this Slurm allocation. With --explain before all of these it ends with what shared memory has cost the run,
    and what to change; figures go to explain/ (--explain=DIR). With KUMIKI_SHARED_CHECK=1 it ends with the bytes of
    shared memory that several ranks wrote without order.
    """
    from kumiki.explain import command as explaining
    from kumiki.explain import races
    from kumiki.hosts.launch import launcher_arguments

    folder, rest = explaining.asked(ctx.args)
    arguments = launcher_arguments(rest)
    if folder is None and not races.asked():
        _hand_on("kumiki-run", arguments)
        return
    native = Native.installed()
    raise typer.Exit(explaining.run(native.require(native.command("kumiki-run")), arguments, folder, native))


@app.command("advise", context_settings={"allow_interspersed_args": False})
def _advise(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGUMENT]...", help="An OpenMP program.")],
    threads: Annotated[
        int | None, typer.Option("-t", "--threads", min=1, metavar="N", help="The threads of one host; default: cores.")
    ] = None,
    limit: Annotated[
        float, typer.Option(metavar="SECONDS", callback=values.seconds, help="The longest run as one process.")
    ] = 60,
    page: Annotated[
        float, typer.Option(metavar="US", callback=values.positive, help="What fetching or sending a page costs.")
    ] = 60,
    message: Annotated[
        float, typer.Option(metavar="US", callback=values.positive, help="What a message to another host costs.")
    ] = 40,
) -> None:
    """Say whether an OpenMP program gains from more hosts, and why not, after a short trial on this host.

    The program runs as one process, and as two with a copy of its memory each.
    """
    from kumiki.explain.trial import Costs, advise

    native = Native.installed()
    cores = threads or Machine.here(native).usable_cores()
    raise typer.Exit(advise(program, cores, limit, Costs(page, message), native))


@app.command("topology", cls=HandedOn)
def _topology(ctx: typer.Context) -> None:
    """Show the hardware of this machine (kumiki-topology)."""
    _hand_on("kumiki-topology", ctx.args)


def _hand_on(name: str, arguments: list[str]) -> None:
    native = Native.installed()
    replace_process(native.require(native.command(name)), arguments)
