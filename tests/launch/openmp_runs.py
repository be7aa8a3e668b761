"""OpenMP programs in C that tests compile, and run as several processes of one host."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from launching import Launcher

PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
    int sum = 0, threads = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i <= 100; i++) sum += i;
    #pragma omp parallel
    #pragma omp single
    threads = omp_get_num_threads();
    Dl_info found;
    dladdr((void*)omp_get_wtime, &found);
    printf("%d %d %s %s\n", sum, threads, strrchr(found.dli_fname, '/') + 1, argc > 1 ? argv[1] : "");
    return argc > 1 ? 5 : 0;
}
"""
COPIES = {"KUMIKI_SHARED_COPIES": "rank"}


def compiled(folder: Path, *options: str, source: str = PROGRAM, compiler: str = "gcc") -> str:
    """A program that the C compiler makes with these options."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    (folder / "program.c").write_text(source)
    program = folder / "program"
    made = subprocess.run(
        [compiler, "-o", str(program), str(folder / "program.c"), *options], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"{compiler} cannot make a program with {' '.join(options)}")
    return str(program)


def library(folder: Path, name: str, source: str, *options: str, compiler: str = "gcc") -> str:
    """A library that the compiler makes with these options; g++ takes the source for C++."""
    (folder / f"{name}.c").write_text(source)
    path = folder / f"{name}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, folder / f"{name}.c", *options], check=True)
    return str(path)


def run_with_copies(
    launcher: Launcher, program: str, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    if not (Path(launcher.path).resolve().parent.parent / "lib" / "libkumiki-openmp-ranks.so").exists():
        pytest.skip("there is no libkumiki-openmp-ranks.so (libzydis-dev)")
    return launcher.run(*options, "--openmp", program, environment=COPIES | environment)


def run_over_hosts(launcher: Launcher, remote_shell: str, hosts: str, *words: str) -> subprocess.CompletedProcess[str]:
    libraries = Path(launcher.path).resolve().parent.parent / "lib"
    for library in ("libkumiki-openmp-ranks.so", "kumiki-ucx.so"):
        if not (libraries / library).exists():
            pytest.skip(f"there is no {library}")
    return launcher.run("--remote-shell", remote_shell, "--hosts", hosts, *words)
