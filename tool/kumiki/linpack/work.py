"""The work of `kumiki linpack`: what the user wants, what is here, the choice, the run, and its figures."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from kumiki.errors import ExitCode, UserError, complain
from kumiki.hosts import Hosts
from kumiki.hosts.model import Origin
from kumiki.linpack import hpl_dat
from kumiki.linpack.beside import Reference, in_turns
from kumiki.linpack.choice import USUAL_BLOCK, Room, Wishes, choose, memory_of
from kumiki.linpack.hpl_dat import HplDat
from kumiki.linpack.launcher import Launcher
from kumiki.linpack.memory import bytes_of_rank
from kumiki.linpack.mix import Mix, accelerated_by, host_part, without_device
from kumiki.linpack.model import Result, Setting
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine, free_bytes

RATED_SIZE = 2048
"""Rows of the products by which a process mix is chosen."""


@dataclass(frozen=True)
class Request:
    """The command line."""

    wishes: Wishes = field(default_factory=Wishes)
    input: Path | None = None
    output: Path | None = None
    """The HPL.dat to write."""
    dry_run: bool = False
    beside: Reference | None = None
    """Run in turns with this program and compare, instead of one run alone."""
    pairs: int = 5
    mix: Mix | str | None = None
    """The process mix, or the kind of which one is chosen."""


def run(request: Request, machine: Machine, native: Native, hosts: Hosts | None) -> ExitCode:
    """Chooses, says why, runs, and prints the figures. Raises UserError when that is impossible."""
    launcher = Launcher(native, hosts)
    launcher.require()
    try:
        if request.input is not None:
            return _by_file(request, hpl_dat.read(request.input), machine, launcher)
        if request.mix is not None:
            return _by_mix(request, request.mix, machine, launcher)
        return _by_choice(request, machine, launcher)
    except KeyboardInterrupt:
        complain("interrupted")
        return ExitCode.INTERRUPTED


def _by_choice(request: Request, machine: Machine, launcher: Launcher) -> ExitCode:
    tried: list[Result] = []

    def trial(setting: Setting, blocks: Sequence[int]) -> list[Result]:
        found = launcher.pilot(setting, blocks)
        tried.extend(found)
        return found

    choice = choose(request.wishes, _room(machine, launcher), trial)
    setting = choice.setting
    _remark(*choice.reasons, *choice.facts())
    if request.output is not None:
        grid = (setting.rows, setting.columns)
        hpl_dat.write(request.output, HplDat((setting.size,), (setting.block,), (grid,), weights=setting.weights))
        _remark(f"written: {request.output}")
    if request.dry_run:
        _remark(_command(setting, request.wishes.mix, launcher))
        return ExitCode.OK
    _require_memory(setting, _room(machine, launcher))
    if request.beside is not None:
        for sentence in in_turns(setting, request.beside, request.pairs, launcher):
            _remark(sentence)
        return ExitCode.OK
    code, found = launcher.run(setting.ranks, setting.threads, setting.arguments())
    _report(found, tried)
    return _exit_code(code)


def _command(setting: Setting, mix: Mix | None, launcher: Launcher) -> str:
    """That runs the setting. The cores of the processes of a mix are in a file that is gone after the run, so there it
    is this command, which writes it again."""
    if mix is None or setting.device is None:
        return shlex.join(launcher.command(setting.ranks, setting.threads, setting.arguments()))
    words = ["--mix", str(mix), "--device", setting.device, "-N", str(setting.size), "--block", str(setting.block)]
    words += ["--grid", f"{setting.rows}x{setting.columns}", *_where(launcher.hosts)]
    return f"kumiki linpack {shlex.join(words)}"


def _where(hosts: Hosts | None) -> list[str]:
    """The options of this command that name the hosts; in a Slurm allocation there are none."""
    if hosts is None or hosts.origin is Origin.SLURM:
        return []
    if hosts.origin is Origin.CLUSTER:
        return ["--cluster", hosts.name]
    return ["--hosts", ",".join(hosts.names), "--remote-shell", shlex.join(hosts.remote_shell)]


def _by_mix(request: Request, wanted: Mix | str, machine: Machine, launcher: Launcher) -> ExitCode:
    """A process mix of each host: how many processes share the device, and then all else as usual."""
    mix, device = wanted, request.wishes.device
    places = _cores_by_host(machine, launcher.hosts)
    cores = min(_count(machine, launcher.hosts, numbers) for _, numbers in places)
    assert device is not None
    if isinstance(mix, str):
        part = host_part(mix, cores)
        block = request.wishes.block or USUAL_BLOCK
        host, accelerator = launcher.product_rates(part.threads, RATED_SIZE, block, device)
        count = accelerated_by(accelerator, host)
        rates = f"the device has {accelerator:.3g} GFLOP/s in products of blocks of {block}, a host process {host:.3g}"
        if count:
            mix = replace(part, accelerated=count)
            _remark(f"mix: {mix.hosts} host processes of {mix.threads} threads and {count} on the device: {rates}")
        else:
            mix = without_device(mix, cores)
            _remark(
                f"mix: {mix.hosts} host processes of {mix.threads} threads on {mix.hosts * mix.threads} of {cores} "
                f"cores, and none on the device, which is slower than one of them: {rates}"
            )
    _require_grid(mix, request.wishes.grid, len(places))
    with tempfile.TemporaryDirectory(prefix="kumiki-linpack-") as folder:
        rankfile = Path(folder) / "ranks"
        rankfile.write_text("".join(mix.rankfile(numbers, name) for name, numbers in places))
        _remark(*(f"rank {number}: {line}" for number, line in enumerate(rankfile.read_text().splitlines())))
        wishes = replace(request.wishes, mix=mix)
        return _by_choice(replace(request, wishes=wishes), machine, replace(launcher, rankfile=rankfile))


def _require_grid(mix: Mix, grid: tuple[int, int] | None, hosts: int) -> None:
    processes = mix.ranks * hosts
    if grid is not None and grid[0] * grid[1] != processes:
        each = f" on each of {hosts} hosts" if hosts > 1 else ""
        raise UserError(f"--grid {grid[0]}x{grid[1]} is no grid of {processes} processes: --mix {mix}{each}")


def _cores_by_host(machine: Machine, hosts: Hosts | None) -> list[tuple[str, Sequence[int] | None]]:
    """By host its name in a rankfile and the numbers of its cores: hosts that are this machine share its cores out, and
    of others the numbers are not known."""
    own = machine.usable_core_numbers()
    if hosts is None:
        return [("", own)]
    if not hosts.one_machine:
        return [(name, None) for name in hosts.names]
    share = len(own) // len(hosts)
    parts = [own[each * share : (each + 1) * share] or own for each in range(len(hosts))]
    return list(zip(hosts.names, parts, strict=True))


def _count(machine: Machine, hosts: Hosts | None, numbers: Sequence[int] | None) -> int:
    """The cores of a host."""
    if numbers is not None:
        return len(numbers)
    return (hosts.cores if hosts else None) or machine.usable_cores()


def _by_file(request: Request, file: HplDat, machine: Machine, launcher: Launcher) -> ExitCode:
    """Runs what an HPL.dat asks."""
    room, wishes = _room(machine, launcher), request.wishes
    ranks = wishes.ranks or file.ranks
    threads = wishes.threads or max(1, room.cores // ranks)
    _remark(*(f"{request.input}: not followed: {remark}" for remark in file.remarks))
    _remark(f"ranks: {ranks}, as many as the largest grid needs; threads: {threads} for each rank")
    if request.output is not None:
        hpl_dat.write(request.output, file)
        _remark(f"written: {request.output}")
    arguments = [*file.arguments(), *(["--device", wishes.device] if wishes.device else [])]
    arguments += ["--form", wishes.form] if wishes.form else []
    largest = _largest(file, wishes, threads, room.hosts)
    _remark(f"{memory_of(largest)}, for N = {largest.size} on {largest.rows} x {largest.columns} ranks, the largest")
    if request.dry_run:
        _remark(shlex.join(launcher.command(ranks, threads, arguments)))
        return ExitCode.OK
    _require_memory(largest, room)
    code, found = launcher.run(ranks, threads, arguments)
    _report(found)
    return _exit_code(code)


def _report(found: Sequence[Result], tried: Sequence[Result] = ()) -> None:
    """The figures of the runs whose solutions are right."""
    passed = [result for result in found if not result.failed]
    if passed:
        _remark(*figures(passed, tried))
    elif found:
        _remark("no Rmax: no run has passed")


def _largest(file: HplDat, wishes: Wishes, threads: int, hosts: int) -> Setting:
    """Of the combinations that a file asks the one that needs most memory."""
    settings = (
        Setting(size, block, *grid, threads, file.weights, wishes.device, None, wishes.form, hosts)
        for grid, size, block in product(file.grids, file.sizes, file.blocks)
    )
    return max(settings, key=lambda setting: setting.ranks * bytes_of_rank(setting))


def figures(found: Sequence[Result], tried: Sequence[Result] = ()) -> list[str]:
    """Rmax, Nmax and N1/2 of these runs, by the definitions of the TOP500; trials count for N1/2 only."""
    best = max(found, key=lambda result: result.rate)
    half = best.rate / 2
    rates: dict[int, float] = {}
    for result in (*tried, *found):
        if result.size <= best.size:
            rates[result.size] = max(result.rate, rates.get(result.size, 0.0))
    sizes = sorted(rates)
    below = [size for size in sizes if rates[size] < half]
    if below:
        low = below[-1]
        high = sizes[sizes.index(low) + 1]
        share = (half - rates[low]) / (rates[high] - rates[low])
        n_half = f"about {low + share * (high - low):.0f}"
    else:
        n_half = f"not above {sizes[0]}, the smallest size that was run"
    return [f"Rmax: {best.rate:.4g} GFLOP/s", f"Nmax: {best.size}", f"N1/2: {n_half}"]


def _room(machine: Machine, launcher: Launcher) -> Room:
    """What the hosts have together; as much of each kind as all can give alike, for the ranks have equal parts."""
    hosts = launcher.hosts
    count = len(hosts) if hosts is not None else 1
    if hosts is None or hosts.each is None:
        memories = machine.numa_nodes() if hosts is None else count
        return Room(count, machine.usable_cores(), memories, free_bytes(launcher.native))
    each = hosts.each
    return Room(count, count * each.cores, count * each.memories, count * each.free_bytes)


def _require_memory(setting: Setting, room: Room) -> None:
    needed, free = setting.ranks * bytes_of_rank(setting), room.free_bytes
    if needed > free:
        raise UserError(
            f"N = {setting.size} needs {needed / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are free; "
            "choose a smaller -N, or leave it out",
            ExitCode.ENVIRONMENT,
        )


def _exit_code(code: int) -> ExitCode:
    """That of the native program, as far as it is documented."""
    return ExitCode(code) if code in tuple(ExitCode) else ExitCode.FAILED


def _remark(*sentences: str) -> None:
    for sentence in sentences:
        print(f"# {sentence}", flush=True)
