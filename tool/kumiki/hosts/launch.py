"""`kumiki run --cluster NAME` and `kumiki run --slurm`: the options of kumiki-run for the hosts."""

from __future__ import annotations

from collections.abc import Sequence

from kumiki.cluster import inspection, plan, requirements
from kumiki.hosts import slurm
from kumiki.hosts.cluster import as_hosts

OPTION = "--cluster"
SLURM = "--slurm"


def named_cluster(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Splits the arguments of `kumiki run` into a cluster's name and those for kumiki-run.

    The option counts only in the first place: anywhere else it may be an argument of the user's program, because only
    kumiki-run knows where that begins.
    """
    if arguments and arguments[0] == OPTION:
        name = arguments[1] if len(arguments) > 1 else ""
        return plan.check_name(name), list(arguments[2:])
    if arguments and arguments[0].startswith(f"{OPTION}="):
        return plan.check_name(arguments[0].removeprefix(f"{OPTION}=")), list(arguments[1:])
    return None, list(arguments)


def launcher_arguments(arguments: Sequence[str]) -> list[str]:
    """The arguments of kumiki-run for those of `kumiki run`. Raises UserError if there is no such cluster, if clusters
    are impossible here, and outside a Slurm allocation.
    """
    if arguments and arguments[0] == SLURM:
        return [*slurm.required().hosts.launcher_options, *arguments[1:]]
    name, own = named_cluster(arguments)
    if name is None:
        return own
    requirements.require()
    return [*as_hosts(inspection.require(name)).launcher_options, *own]
