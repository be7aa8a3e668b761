"""The subcommands of `kumiki cluster`; the other modules do the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kumiki.cluster.plan import MOST_HOSTS, check_name
from kumiki.errors import ExitCode, UserError, complain
from kumiki.terminal.formats import TableOrJson
from kumiki.terminal.quantity import counted

DEFAULT_NAME = "default"
DEFAULT_HOSTS = 4

app = typer.Typer(
    name="cluster",
    help="Clusters on this machine: hosts that are network namespaces, for tests and experiments. Needs root.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class State(str, Enum):
    """The state of a host's cable."""

    UP = "up"
    DOWN = "down"


class WithCommand(TyperCommand):
    """A subcommand whose arguments after -- belong to another command and are passed on unread."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.obj = args[end + 1 :]
        return super().parse_args(ctx, args[:end])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


Name = Annotated[str, typer.Argument(metavar="NAME", help="The cluster.")]


@app.command("create")
def _create(
    name: Name = DEFAULT_NAME,
    hosts: Annotated[
        int, typer.Option(min=1, max=MOST_HOSTS, metavar="N", help="The number of hosts.")
    ] = DEFAULT_HOSTS,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Limit each link to this rate, such as 100mbit or 2.5gbit.")
    ] = None,
) -> None:
    """Make a cluster."""
    from kumiki.cluster import making, view
    from kumiki.cluster.rate import Rate

    check_name(name)
    wanted = Rate.parse(rate) if rate is not None else None
    with _at_work("no incomplete cluster is left"):
        cluster = making.create(name, hosts, wanted)
    typer.echo(view.sentence(cluster))


@app.command("list")
def _list(format: Annotated[TableOrJson, typer.Option(help="The output format.")] = TableOrJson.TABLE) -> None:
    """List the clusters of this machine."""
    from kumiki.cluster import inspection, view
    from kumiki.terminal.display import console

    with _at_work():
        clusters = inspection.clusters()
    if format is TableOrJson.JSON:
        typer.echo(view.as_json(clusters))
    else:
        view.print_table(clusters, console())


@app.command("exec", cls=WithCommand)
def _exec(
    ctx: typer.Context,
    name: Name = DEFAULT_NAME,
    host: Annotated[int | None, typer.Option(metavar="I", help="Run only on this host, without a label.")] = None,
) -> None:
    """Run a command on all hosts, or on one.

    Ends with the command's exit code; on all hosts, with that of the first host where it failed.
    """
    from kumiki.cluster import execution, inspection

    command: list[str] = ctx.obj
    if not command:
        raise UserError("the command is missing: kumiki cluster exec [NAME] [--host I] -- COMMAND...")
    with _at_work("the command was ended on all hosts"):
        cluster = inspection.require(check_name(name))
        if host is None:
            raise typer.Exit(execution.run_everywhere(cluster, command))
    execution.become(cluster.host(host), command)


@app.command("link")
def _link(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The cluster.")],
    host: Annotated[int, typer.Argument(metavar="HOST", help="The number of the host.")],
    state: Annotated[State, typer.Argument(metavar="up|down", help="down cuts the host off.")],
) -> None:
    """Plug in or unplug the cable of a host."""
    from kumiki.cluster import inspection, making

    with _at_work():
        cluster = inspection.require(check_name(name))
        making.link(cluster.host(host), name, up=state is State.UP)


@app.command("delete")
def _delete(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help=f"The cluster; {DEFAULT_NAME} unless given.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete all clusters of this machine.")] = False,
) -> None:
    """Delete a cluster after ending the processes that run in it."""
    from kumiki.cluster import inspection, making

    if everything and name is not None:
        raise UserError(f"give either the name of a cluster or --all, not both: '{name}' --all")
    with _at_work("the deletion that had begun is complete"):
        names = list(inspection.namespaces()) if everything else [check_name(name or DEFAULT_NAME)]
        if not names:
            typer.echo("there are no clusters on this machine; nothing to delete")
        for each in names:
            ended = making.delete(each)
            if ended is None:
                typer.echo(f"there is no cluster '{each}'; nothing to delete")
            else:
                typer.echo(f"cluster '{each}' is gone" + (f"; ended {_processes(ended)} in it" if ended else ""))


def _processes(count: int) -> str:
    return counted(count, "process") if count == 1 else f"{count} processes"


@contextmanager
def _at_work(at_interrupt: str = "nothing was changed") -> Iterator[None]:
    """Surrounds queries and changes of the system: checks the requirements and says what an interrupt has left."""
    from kumiki.cluster import requirements

    try:
        requirements.require()
        yield
    except KeyboardInterrupt:
        complain(f"interrupted; {at_interrupt}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
