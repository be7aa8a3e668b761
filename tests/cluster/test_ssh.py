"""Jobs over hosts that are reached by ssh itself, whose words go through a shell of the other host. Each host of the
cluster has an ssh server of its own.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from clustering import Hosts
from joining_jobs import all_of, kumiki_run, need_module, places

CANNOT_START = 3
SERVER = "dropbear"
PATIENCE = 10.0

TEAM = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
    int length = 100000, *values = calloc(length, sizeof *values);
    #pragma omp parallel for
    for (int i = 0; i < length; ++i) values[i] = omp_get_thread_num();
    int changes = 0;
    for (int i = 1; i < length; ++i) changes += values[i] != values[i - 1];
    printf("%d changes, %s\n", changes, count > 1 ? words[1] : "");
}
"""


@dataclass(frozen=True)
class Reached:
    """Hosts that ssh reaches, and the launcher on the first of them."""

    hosts: Hosts
    folder: Path

    def launcher(self, *options: str, ranks_per_host: int = 1) -> list[str]:
        names = ",".join(f"{address}:{ranks_per_host}" for address in self.hosts.addresses)
        shell = f"ssh -F {self.folder / 'client'} -o BatchMode=yes"
        return [str(kumiki_run()), "--remote-shell", shell, "--hosts", names, *options]

    def run(self, *command: str, ranks_per_host: int = 1, **options: object) -> subprocess.CompletedProcess[str]:
        return self.hosts.run(0, *self.launcher(ranks_per_host=ranks_per_host), *command, **options)


def serve(hosts: Hosts, folder: Path) -> None:
    """Starts a server on each host that accepts one key, which is that of the user's only home that the server sees."""
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
    subprocess.run(["dropbearkey", "-t", "ed25519", "-f", str(folder / "host")], capture_output=True, check=True)
    accepted = home / ".ssh" / "authorized_keys"
    accepted.write_text((folder / "key.pub").read_text())
    accepted.chmod(0o600)
    user = pwd.getpwuid(os.getuid())
    users = Path("/etc/passwd").read_text().replace(f":{user.pw_dir}:{user.pw_shell}\n", f":{home}:/bin/sh\n")
    (folder / "users").write_text(users)
    (folder / "client").write_text(
        f"Host *\n  IdentityFile {folder / 'key'}\n  IdentitiesOnly yes\n  StrictHostKeyChecking accept-new\n"
        f"  UserKnownHostsFile {folder / 'known'}\n"
    )
    for host, address in enumerate(hosts.addresses):
        server = f"{SERVER} -F -m -s -r {folder / 'host'} -P {folder / f'server{host}'} -p {address}:22"
        begin = f"mount --bind {folder / 'users'} /etc/passwd && exec {server}"
        hosts.start(host, "unshare", "--mount", "sh", "-c", begin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def reached(make_cluster: Callable[..., Hosts], tmp_path: Path) -> Reached:
    for program in ("ssh", SERVER, "dropbearkey"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    need_module("kumiki-ucx", "libucx-dev")
    hosts = make_cluster(2)
    serve(hosts, tmp_path)
    end = time.monotonic() + PATIENCE
    while not all((tmp_path / f"server{host}").exists() for host in range(2)):
        assert time.monotonic() < end, f"{SERVER} did not start"
        time.sleep(0.02)
    return Reached(hosts, tmp_path)


def test_ranks_join(reached: Reached, program: str) -> None:
    ended = reached.run(program, "alone", ranks_per_host=2)
    assert ended.returncode == 0, ended.stderr
    assert places(ended.stdout) == all_of(4)


def test_an_openmp_program_and_its_words(reached: Reached, tmp_path: Path) -> None:
    """No shell on the way changes a word of the command, or that of an environment variable."""
    (tmp_path / "team.c").write_text(TEAM)
    team = tmp_path / "a team"
    subprocess.run(["gcc", "-O2", "-fopenmp", str(tmp_path / "team.c"), "-o", str(team)], check=True)
    word = "a  'word' \"of\" $HOME; * \\ `id`"
    ended = reached.run("-t", "2", "--openmp", str(team), word)
    assert (ended.returncode, ended.stdout) == (0, f"3 changes, {word}\n"), ended.stderr
    ended = reached.run("-x", f"SAYS={word}", "printenv", "SAYS")
    assert (ended.returncode, ended.stdout) == (0, f"{word}\n" * 2), ended.stderr


def test_input_output_and_exit_code(reached: Reached) -> None:
    text = "".join(f"line {number}\n" for number in range(20000))
    ended = reached.run("sh", "-c", 'cat; echo "I am $KUMIKI_RANK" >&2', input=text)
    assert (ended.returncode, ended.stdout) == (0, text)
    assert sorted(ended.stderr.splitlines()) == ["I am 0", "I am 1"]
    ended = reached.run("sh", "-c", "exit $((KUMIKI_RANK * 7))")
    assert ended.returncode == 7
    assert re.search(r"rank 1 of 2 on host \S+ \(process \d+\) exited with code 7", ended.stderr), ended.stderr


def test_a_host_that_does_not_let_one_in(reached: Reached, tmp_path: Path) -> None:
    (tmp_path / "home" / ".ssh" / "authorized_keys").write_text("")
    ended = reached.run("true")
    assert ended.returncode == CANNOT_START
    assert re.search(r"cannot reach host 10\.\S+: .*must work by hand, without a password", ended.stderr, re.DOTALL)
    assert "Permission denied" in ended.stderr


def test_a_host_whose_key_is_not_known(reached: Reached, tmp_path: Path) -> None:
    """Nobody can be asked whether the key is right, so the launcher says what ssh says."""
    settings = tmp_path / "client"
    settings.write_text(settings.read_text().replace("accept-new", "yes"))
    ended = reached.run("true")
    assert ended.returncode == CANNOT_START
    assert "Host key verification failed" in ended.stderr


def test_a_connection_that_dies(reached: Reached) -> None:
    """Its ranks end with it, and nothing is left on either host."""
    before = set(reached.hosts.processes())
    job = reached.hosts.start(0, *reached.launcher(), "sh", "-c", "echo begun; sleep 60", stdin=subprocess.DEVNULL)
    assert job.stdout is not None
    assert [job.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
    client = next(
        process
        for process in reached.hosts.processes()
        if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ssh\0")
        and f"\0{reached.hosts.addresses[1]}\0".encode() in Path(f"/proc/{process}/cmdline").read_bytes()
    )
    os.kill(client, signal.SIGKILL)
    _, errors = job.communicate(timeout=PATIENCE)
    assert job.returncode == CANNOT_START
    assert reached.hosts.addresses[1] in errors
    end = time.monotonic() + PATIENCE
    while left := set(reached.hosts.processes()) - before:
        assert time.monotonic() < end, f"processes {left} are left"
        time.sleep(0.05)
