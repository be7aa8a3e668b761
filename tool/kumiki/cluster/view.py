"""How clusters are printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from kumiki.cluster.inspection import Cluster
from kumiki.terminal.quantity import counted

COLUMNS = ("cluster", "hosts", "rate", "namespaces", "addresses", "state")


def sentence(cluster: Cluster) -> str:
    """Shows the user the cluster that was just made."""
    rate = f"linked at {cluster.rate}" if cluster.rate else "linked at full speed"
    return (
        f"cluster '{cluster.name}': {counted(len(cluster.hosts), 'host')} {rate}, "
        f"{_range(cluster.namespaces)} ({_range([host.address for host in cluster.hosts])})"
    )


def print_table(clusters: Sequence[Cluster], out: Console) -> None:
    if not clusters:
        out.print("there are no clusters on this machine; make one: kumiki cluster create")
        return
    table = Table(*COLUMNS, box=box.SIMPLE_HEAD, pad_edge=False)
    for cluster in clusters:
        addresses = [host.address for host in cluster.hosts]
        rate = str(cluster.rate or "full speed")
        table.add_row(
            *(cluster.name, str(len(cluster.hosts)), rate, _range(cluster.namespaces), _range(addresses)),
            "; ".join(_state(cluster)),
        )
    out.print(table)


def as_json(clusters: Sequence[Cluster]) -> str:
    return json.dumps([cluster.as_dict() for cluster in clusters], indent=1)


def _range(names: Sequence[str]) -> str:
    return " to ".join((names[0], names[-1])[: len(names)]) if names else ""


def _state(cluster: Cluster) -> Iterator[str]:
    if not cluster.complete:
        yield f"not complete (kumiki cluster delete {cluster.name})"
        return
    if cut_off := [str(host.number) for host in cluster.hosts if not host.linked]:
        yield f"cut off: host {', '.join(cut_off)}"
    else:
        yield "up"
