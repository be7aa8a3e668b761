"""The arguments of `kumiki linpack`; work.py does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kumiki.hosts import options as where
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine


def linpack(
    size: Annotated[
        int | None, typer.Option("-N", "--size", metavar="N", min=0, help="Rows of the matrix; default: chosen.")
    ] = None,
    block: Annotated[int | None, typer.Option(metavar="B", min=1, help="Rows and columns of a block.")] = None,
    grid: Annotated[str | None, typer.Option(metavar="PxQ", help="Process rows x process columns.")] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="W,...", help="The share of each process column; default: by speed.")
    ] = None,
    ranks: Annotated[int | None, typer.Option("-n", "--ranks", metavar="R", min=1, help="The number of ranks.")] = None,
    threads: Annotated[
        int | None, typer.Option("-t", "--threads", metavar="T", min=1, help="The threads of each rank.")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:...",
            help="The accelerator of each host, which shares the work where that is faster: opencl:0, or "
            "emulated:rate=20,bus=4.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="FORM",
            help="How the device takes part: offload (it gets products of updates), resident (the matrix lives on it; "
            "one rank for each device) or auto, by measured rates, the default.",
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="For studies: processes with equal shares, those on the device as many as it bears; fine, coarse, or "
            "host processes x threads + accelerator processes such as 7x2+3. Needs --device.",
        ),
    ] = None,
    input: Annotated[
        Path | None, typer.Option(metavar="HPL.dat", help="Run what this input file of HPL (or hpccinf.txt) asks.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="HPL.dat", help="Also write what was chosen as an input file of HPL.")
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run in turns with reference HPL, such as 'mpirun -n {ranks} xhpl', and compare the rates.",
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(metavar="K", min=1, help="With --beside: the number of pairs of runs.")] = 5,
    cluster: where.Cluster = None,
    named: where.Named = None,
    hostfile: where.File = None,
    remote_shell: where.RemoteShell = None,
    alone: where.Alone = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Choose by short trials, print memory, time and command; do not run.")
    ] = False,
) -> None:
    """Solve a large dense system of equations, as HPL does, and report the rate.

    Alone, it chooses everything, says why, and takes less than two minutes. Output lines are those of HPL; remarks
    begin with #.
    """
    from kumiki.linpack import work
    from kumiki.linpack.beside import Reference
    from kumiki.linpack.choice import Wishes
    from kumiki.linpack.mix import mix_of
    from kumiki.linpack.model import FORMS, grid_of, shares_of

    shape = grid_of(grid) if grid is not None else None
    if weights is not None:
        try:
            weights = shares_of(weights)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--weights") from None
    if input is not None and any(value is not None for value in (size, block, grid, weights)):
        raise typer.BadParameter(
            "it says size, block and grid itself: leave -N, --block, --grid and --weights out", param_hint="--input"
        )
    if shape is not None and ranks is not None and shape[0] * shape[1] != ranks:
        raise typer.BadParameter(f"{grid} needs {shape[0] * shape[1]} ranks, not {ranks}", param_hint="--grid")
    if input is not None and beside is not None:
        raise typer.BadParameter("it compares one setting: leave --input out", param_hint="--beside")
    if mix is not None and (device is None or any(each is not None for each in (ranks, threads, weights, input))):
        raise typer.BadParameter(
            "it is about a device, and says itself how many processes and threads there are, with equal shares: give "
            "--device, and leave --ranks, --threads, --weights and --input out",
            param_hint="--mix",
        )
    if form is not None and (form not in FORMS or device is None or mix is not None):
        raise typer.BadParameter(
            f"one of {', '.join(FORMS)} for a device: give --device, and leave --mix out", param_hint="--form"
        )
    mixed = mix_of(mix) if mix is not None else None
    reference = Reference(beside) if beside is not None else None
    if reference is not None:
        reference.arguments(1)
    native = Native.installed()
    wishes = Wishes(size, block, shape, weights, ranks, threads, device, form)
    request = work.Request(wishes, input, write, dry_run, reference, pairs, mixed)
    hosts = where.Where(cluster, named, hostfile, remote_shell, alone).hosts(native)
    raise typer.Exit(work.run(request, Machine.here(native), native, hosts))
