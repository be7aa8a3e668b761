"""`kumiki run --explain`: programs with known costs, and one without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from launching import built_program, find_command

COPIES = {"KUMIKI_SHARED_COPIES": "rank"}
NAME = "kumiki-test-shared-costs"


@dataclass
class Explained:
    """How a run ended, and what was said about it."""

    code: int
    output: str
    errors: str
    figures: dict[str, Any]
    page: str

    def findings_on(self, word: str) -> list[str]:
        """What is to be changed about the subjects whose name contains the word."""
        return [each["change"] for each in self.figures["findings"] if word in each["subject"] + each["what"]]

    @property
    def changes(self) -> str:
        return self.errors.split("What to change")[-1]


def explain(folder: Path, *words: str, settings: dict[str, str] | None = None) -> Explained:
    prefix = Path(find_command("kumiki-run")).parents[1]
    temporary = folder / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "KUMIKI_PREFIX": str(prefix), "TMPDIR": str(temporary), **(settings or {})}
    ended = subprocess.run(
        [sys.executable, "-m", "kumiki", "run", f"--explain={folder / 'said'}", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert list(temporary.iterdir()) == [], "the records are still there"
    figures, page = folder / "said" / "explain.json", folder / "said" / "index.html"
    return Explained(
        ended.returncode,
        ended.stdout,
        ended.stderr,
        json.loads(figures.read_text()) if figures.exists() else {},
        page.read_text() if page.exists() else "",
    )


def has_lines() -> bool:
    return (Path(find_command("kumiki-run")).parents[1] / "libexec" / "kumiki" / "kumiki-lines").exists()


def line_with(text: str) -> str:
    """`FILE:LINE` of the test program's line with this remark."""
    source = Path(__file__).with_name("shared_costs.cpp")
    number = next(i for i, line in enumerate(source.read_text().splitlines(), 1) if line.endswith(text))
    return f"{source.name}:{number}"


def test_false_sharing_is_found_and_named(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "3", built_program(NAME), "sharing", settings=COPIES)
    assert said.code == 0 and said.output == "done\n", said.errors
    (subject,) = said.figures["subjects"]
    # At rank 0 alone, which is the home, a write may pass unnoticed in the interval after another rank's fetch.
    assert 150 <= subject["false_shared"] <= 200 and subject["false_pages"] == 1
    assert subject["differences"] == 400  # of two ranks, in 200 steps
    (change,) = said.findings_on("array")
    assert "pad what each rank writes to whole pages" in change and change in said.changes
    assert subject["example"] == "page 0 (home: rank 0): rank 1 bytes 64 to 64, rank 2 bytes 128 to 128"
    assert said.page.count("<svg") > 1 and "A dot marks false sharing" in said.page


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_source_lines_are_named(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", built_program(NAME), "sharing", settings=COPIES)
    (subject,) = said.figures["subjects"]
    assert subject["name"] == "array of " + line_with("// the array of shared counts")
    assert said.figures["lines"][0]["text"] == line_with("// the line of shared counts")
    assert said.figures["lines"][0]["faults"] == sum(line["faults"] for line in said.figures["lines"])


def test_a_wrong_home_is_found(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", built_program(NAME), "home", settings=COPIES)
    assert said.code == 0, said.errors
    (subject,) = said.figures["subjects"]
    assert subject["homes"] == {"0": 64} and subject["elsewhere"] == 32 and subject["pages"] == 64
    (change,) = said.findings_on("array")
    assert "initialise in parallel: rank 0 touches all of it first" in change
    assert "50 % of the pages have their home at another rank" in said.errors


def test_a_contended_lock_is_named(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", built_program(NAME), "lock", settings=COPIES)
    (lock,) = said.figures["locks"]
    assert lock["text"] == "lock 3" and lock["count"] == 1000
    assert said.findings_on("lock 3")


def test_a_good_program_needs_no_change(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", built_program(NAME), "good", settings=COPIES)
    assert said.code == 0 and said.figures["findings"] == [], said.errors
    assert "Nothing: no page travelled" in said.changes


def test_ranks_of_one_memory_have_nothing_to_change(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", built_program(NAME), "sharing")
    assert said.code == 0 and said.figures["findings"] == []
    assert "use the same memory" in said.errors and "KUMIKI_SHARED_COPIES=rank shows" in said.errors


OPENMP = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 32768 };
double grid[n];
long total;
int main(void) {
    double *heap = malloc(n * sizeof *heap); /* the line of the heap */
    for (int i = 0; i < n; i++) grid[i] = heap[i] = i;
    for (int step = 0; step < 20; step++) {
        #pragma omp parallel for /* the region of the heap */
        for (int i = 0; i < n; i++) heap[i] = heap[i] * 0.5 + grid[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < 500; i++) {
        #pragma omp atomic
        total += i; /* the line of the atomic */
    }
    #pragma omp parallel for
    for (int i = 0; i < 30; i++) {
        #pragma omp critical
        total += 1;
    }
    printf("%ld\n", total);
    return 0;
}
"""


BESIDE_AN_ARRAY = r"""
#include <omp.h>
#include <stdio.h>
long before;
double array[4096 + 8];
long behind;
int main(void) {
    #pragma omp parallel
    if (omp_get_thread_num() == 1) {
        for (int i = 0; i < 4096 + 8; i++) array[i] = i;
        before = behind = 1;
    }
    printf("%ld %.0f\n", before + behind, array[4096]);
    return 0;
}
"""

CALLS = r"""
#include <omp.h>
#include <stdio.h>
long sum;
int main(void) {
    long own = 0;
    #pragma omp parallel reduction(+ : own)
    for (int i = 0; i < 200; i++) {
        #pragma omp atomic
        sum += 1;
        own += omp_get_level(); /* a call of a library, whose address lies in the same page */
        #pragma omp barrier
    }
    printf("%ld %ld\n", sum, own);
    return 0;
}
"""


def openmp_program(folder: Path, text: str = OPENMP) -> Path:
    libraries = Path(find_command("kumiki-run")).parents[1] / "lib"
    if not (libraries / "libkumiki-openmp-ranks.so").exists():
        pytest.skip("there is no libkumiki-openmp-ranks.so (libzydis-dev)")
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", "-o", program, source], check=True)
    return program


def number_of(text: str) -> int:
    return next(i for i, line in enumerate(OPENMP.splitlines(), 1) if text in line)


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_openmp_variables_regions_and_atomics(tmp_path: Path) -> None:
    program = openmp_program(tmp_path)
    said = explain(tmp_path, "-n", "2", "-t", "1", "--openmp", str(program), settings=COPIES)
    assert said.code == 0 and said.output == "124780\n", said.errors
    subjects = {subject["name"]: subject for subject in said.figures["subjects"]}
    heap = subjects[f"memory of program.c:{number_of('the line of the heap')}"]
    pages = 32768 * 8 // 4096
    # The second half belongs to rank 1 in each of 20 regions; its home is rank 0, which has initialized it, until
    # rank 1 has written it in two of them.
    assert pages <= heap["differences"] <= 2 * pages
    assert heap["homes"]["1"] > heap["homes"].get("0", 0) and heap["elsewhere"] <= 1
    assert subjects["grid"]["differences"] == 0 < subjects["grid"]["fetches"]
    regions = {region["text"]: region for region in said.figures["regions"]}
    assert regions[f"program.c:{number_of('the region of the heap')} (main)"]["executions"] == 20
    atomics = {lock["text"]: lock["count"] for lock in said.figures["locks"] if lock["kind"] == "atomic"}
    assert atomics[f"program.c:{number_of('the line of the atomic')}"] == 500
    others = {lock["text"]: lock["count"] for lock in said.figures["locks"] if lock["kind"] != "atomic"}
    assert others == {"critical without a name": 30}
    assert any("reduction" in change for change in said.findings_on("atomic"))
    assert "Parallel regions" in said.page and said.page.count("<svg") > 1


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_pages_whose_home_never_writes_them_are_named(tmp_path: Path) -> None:
    program = openmp_program(tmp_path)
    said = explain(
        tmp_path, "-n", "2", "-t", "1", "--openmp", str(program), settings=COPIES | {"KUMIKI_HOMES": "owner"}
    )
    assert said.code == 0 and said.output == "124780\n", said.errors
    subjects = {subject["name"]: subject for subject in said.figures["subjects"]}
    heap = subjects[f"memory of program.c:{number_of('the line of the heap')}"]
    pages = 32768 * 8 // 4096
    # The second half belongs to rank 1 in each of 20 regions; its home is rank 0, which has allocated it.
    assert 19 * pages // 2 <= heap["differences"] <= 20 * (pages // 2 + 1)
    assert heap["again"] >= pages // 2 - 1 and heap["homes"].keys() == {"0"}


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_a_short_variable_stays_at_the_first_process(tmp_path: Path) -> None:
    program = openmp_program(tmp_path, BESIDE_AN_ARRAY)
    said = explain(tmp_path, "-n", "2", "-t", "1", "--openmp", str(program), settings=COPIES)
    assert said.code == 0 and said.output == "2 4096\n", said.errors
    (array,) = (subject for subject in said.figures["subjects"] if subject["name"] == "array")
    # The other process has touched all of them first. The array shares its first and its last page with the others.
    assert array["homes"] == {"0": 2, "1": 7}


SHORT_NAMES = r"""
#include <cstdio>
double a[8], i[8], Pd[8];
namespace space { double grid[8]; }
int main() {
    std::printf("%p\\n", static_cast<void *>(a));
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    for (int letter; (letter = std::fgetc(maps)) != EOF;) std::putchar(letter);
}
"""


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_variables_with_the_names_of_encoded_types_keep_them(tmp_path: Path) -> None:
    (tmp_path / "names.cpp").write_text(SHORT_NAMES)
    subprocess.run(["g++", "-o", tmp_path / "names", tmp_path / "names.cpp"], check=True)
    address, maps = subprocess.check_output([tmp_path / "names"], text=True).split("\n", 1)
    (tmp_path / "maps").write_text(maps)
    lines = Path(find_command("kumiki-run")).parents[1] / "libexec" / "kumiki" / "kumiki-lines"
    said = subprocess.check_output([lines, tmp_path / "maps"], input=f"data {address}\n", text=True)
    assert {"a", "i", "Pd", "space::grid"} <= {variable["name"] for variable in json.loads(said)}


def test_advice_on_more_hosts_names_what_stands_against_them(tmp_path: Path) -> None:
    program = openmp_program(tmp_path)
    prefix = Path(find_command("kumiki-run")).parents[1]
    ended = subprocess.run(
        [sys.executable, "-m", "kumiki", "advise", "-t", "2", str(program)],
        env={**os.environ, "KUMIKI_PREFIX": str(prefix)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0 and "hosts:" not in ended.stderr, ended.stderr
    assert "As one process with 2 threads it took" in ended.stdout and "2 hosts:" in ended.stdout
    assert "124780" not in ended.stdout, "the output of the program"


def test_records_come_from_hosts_that_do_not_have_the_folder(tmp_path: Path) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("hosts with files of their own need root and unshare")
    shell = tmp_path / "remote-shell"
    hidden = tmp_path / "temporary"
    # Host b sees an empty folder where the tool's is.
    shell.write_text(
        '#!/bin/sh\nhost=$1\nshift\n[ "$host" = b ] || exec "$@"\n'
        f'exec unshare -m sh -c \'mount -t tmpfs none {hidden}; exec "$@"\' sh "$@"\n'
    )
    shell.chmod(0o755)
    said = explain(tmp_path, "--remote-shell", str(shell), "--hosts", "a,b", built_program(NAME), "sharing")
    assert said.code == 0, said.errors
    (subject,) = said.figures["subjects"]
    assert subject["differences"] == 200 and said.figures["notes"] == []


def test_programs_without_shared_memory(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "2", "true")
    assert said.code == 0 and "No rank left a record" in said.errors and not said.figures


def test_a_rank_that_dies_leaves_what_it_has_done(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "3", built_program(NAME), "dies", settings=COPIES)
    assert said.code == 128 + 9
    assert "rank 1 of 3" in said.errors and "was killed by signal 9" in said.errors
    assert "did not leave the job as it should" in said.errors
    (subject,) = said.figures["subjects"]
    # In 100 steps three ranks write; the two others may still do so in the one in which rank 1 dies.
    assert 50 <= subject["false_shared"] <= 101


def test_exit_codes_and_output_are_those_of_the_program(tmp_path: Path) -> None:
    said = explain(tmp_path, "-n", "1", "sh", "-c", "echo out; exit 7")
    assert said.code == 7 and said.output == "out\n"


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_calls_of_libraries_use_no_page_of_the_program(tmp_path: Path) -> None:
    program = openmp_program(tmp_path, CALLS)
    said = explain(tmp_path, "-n", "2", "-t", "1", "--openmp", str(program), settings=COPIES)
    assert said.code == 0 and said.output == "400 400\n", said.errors
    assert sum(line["faults"] for line in said.figures["lines"] if "atomic" not in line["text"]) < 50


@pytest.mark.skipif(not has_lines(), reason="kumiki-lines is not built (libdw-dev)")
def test_gathered_updates_are_told_from_messages(tmp_path: Path, remote_shell: str) -> None:
    program = openmp_program(tmp_path)
    hosts = ("--hosts", "a,b", "--remote-shell", remote_shell, "-n", "2", "-t", "1")
    said = explain(tmp_path, *hosts, "--openmp", "--atomics", "gathered", str(program))
    assert said.code == 0 and said.output == "124780\n", said.errors
    updates = [lock for lock in said.figures["locks"] if lock["kind"] in ("atomic", "gathered")]
    counts = {each["kind"]: each["count"] for each in updates}
    assert sum(counts.values()) == 500 and counts["gathered"] > 400, counts  # some are made in order in between
    assert "gathered atomic at program.c" in said.errors and "has no effect" not in said.errors
    examples = [subject["example"] for subject in said.figures["subjects"]]
    assert not any("bytes 1 to 0" in example for example in examples), examples  # the word, and no empty difference


def test_updates_that_cannot_be_gathered_are_named(tmp_path: Path) -> None:
    program = openmp_program(tmp_path)
    said = explain(tmp_path, "-n", "2", "-t", "1", "--openmp", "--atomics", "gathered", str(program), settings=COPIES)
    assert said.code == 0 and said.output == "124780\n"
    assert "--atomics gathered has no effect, because several processes share a host" in said.errors


MANY_LOCKS = """
#include <omp.h>
#include <stdio.h>
static omp_lock_t locks[6000];
static int sum;
int main(void) {
    for (int i = 0; i < 6000; i++) omp_init_lock(&locks[i]);
#pragma omp parallel for
    for (int i = 0; i < 6000; i++) {
        omp_set_lock(&locks[i]);
        omp_unset_lock(&locks[i]);
    }
#pragma omp parallel
    {
#pragma omp critical
        sum++;
    }
    printf("%d\\n", sum);
}
"""


def test_many_locks_leave_room_for_the_regions(tmp_path: Path) -> None:
    program = openmp_program(tmp_path, MANY_LOCKS)
    said = explain(tmp_path, "-n", "2", "-t", "1", "--openmp", str(program), settings=COPIES)
    assert said.code == 0 and said.output == "2\n", said.errors
    assert sum(lock["count"] for lock in said.figures["locks"] if lock["kind"] == "lock") == 6000
    assert [region["executions"] for region in said.figures["regions"] if "between" not in region["text"]] == [1, 1]
