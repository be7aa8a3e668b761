"""Random OpenMP programs in C, whose output depends neither on the number of threads nor on their order.

A program is a row of parallel regions of random constructs. Each construct has variables of its own, global, on the
stack of main or in the heap, reads variables of regions that have ended, and the program prints them all at its end.
"""

from __future__ import annotations

import random
from collections.abc import Callable

HEAD = """#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char* name, const long* values, int count) {
    unsigned long hash = 0;
    for (int i = 0; i < count; i++) hash = hash * 31 + (unsigned long)values[i];
    printf("%s %lu\\n", name, hash);
}
static long fibonacci(int n) {
    long x, y;
    if (n < 2) return n;
#pragma omp task shared(x)
    x = fibonacci(n - 1);
#pragma omp task shared(y)
    y = fibonacci(n - 2);
#pragma omp taskwait
    return x + y;
}
static int few = 1;
"""
LENGTHS = [1, 2, 3, 5, 7, 16, 33, 100, 257, 1000]
IN_ORDER = ["", "static", "static,1", "dynamic", "dynamic,3", "guided", "runtime", "monotonic:dynamic,2"]
SCHEDULES = [*IN_ORDER, "static,7", "dynamic,9", "guided,4", "auto", "nonmonotonic:dynamic"]
TEAMS = ["", "", "", *(f" num_threads({count})" for count in (1, 2, 3, 4, 5, 6, 8)), " if(0)", " num_threads(few)"]

Construct = Callable[["Program"], str]
CONSTRUCTS: list[Construct] = []


def construct(write: Construct) -> Construct:
    CONSTRUCTS.append(write)
    return write


class Program:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.outside: list[str] = []  # global variables and functions
        self.inside: list[str] = []  # of main, before the region that is being written
        self.variables: list[tuple[str, int]] = []  # with their lengths
        self.ended = 0  # as many of the variables are of regions that have ended
        self.names = 0

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def variable(self, length: int = 1) -> str:
        name = self.name("v")
        where = self.chance.choice(["global", "static", "stack", "heap"])
        if where == "stack":
            self.inside.append(f"long {name}[{length}]; memset({name}, 0, sizeof {name});")
        elif where == "heap":
            self.inside.append(f"long* {name} = calloc({length}, sizeof *{name});")
        else:
            self.outside.append(f"{'static ' if where == 'static' else ''}long {name}[{length}];")
        self.variables.append((name, length))
        return name

    def schedule(self, kinds: list[str] = SCHEDULES) -> str:
        kind = self.chance.choice(kinds)
        return f" schedule({kind})" if kind else ""

    def wait(self) -> str:
        return self.chance.choice(["", " nowait"])

    def length(self, most: int = 1000) -> int:
        return self.chance.choice([length for length in LENGTHS if length <= most])

    def value(self) -> str:
        """An expression in i."""
        if self.ended and self.chance.random() < 0.6:
            name, length = self.chance.choice(self.variables[: self.ended])
            return f"({name}[i % {length}] % 1000 + i * {self.chance.randint(1, 9)})"
        return f"(i * {self.chance.randint(1, 99)} + {self.chance.randint(0, 99)})"

    def region(self) -> str:
        self.inside = []
        body = "".join(self.chance.choice(CONSTRUCTS)(self) for _ in range(self.chance.randint(1, 6)))
        region = f"#pragma omp parallel{self.chance.choice(TEAMS)}\n{{\n{body}}}\n"
        if self.chance.random() < 0.3:
            again = f"few = 1 + (few + {self.chance.randint(1, 5)}) % 6;"
            region = f"for (int time = 0; time < {self.chance.randint(2, 6)}; time++) {{ {again}\n{region}}}\n"
        self.ended = len(self.variables)
        return "\n".join([*self.inside, region])

    def text(self) -> str:
        regions = [self.region() for _ in range(self.chance.randint(2, 9))]
        shown = [f'show("{name}", {name}, {length});' for name, length in self.variables]
        return "\n".join([HEAD, *self.outside, "int main(void) {", *regions, *shown, "return 0;", "}", ""])


def loop(length: int, clauses: str, body: str) -> str:
    return f"#pragma omp for{clauses}\nfor (int i = 0; i < {length}; i++) {{\n{body}\n}}\n"


def single(p: Program, body: str) -> str:
    return f"#pragma omp single{p.wait()}\n{{\n{body}\n}}\n"


@construct
def plain_loop(p: Program) -> str:
    length = p.length()
    up, down = f"int i = 0; i < {length}; i += {p.chance.randint(1, 3)}", f"int i = {length - 1}; i >= 0; i--"
    long_ones = f"unsigned long long i = 0; i < {length}ULL; i++"
    head = p.chance.choice([up, down, long_ones])
    simd = p.chance.choice(["", " simd"])
    return (
        f"#pragma omp for{simd}{p.schedule()}{p.wait()}\nfor ({head}) {p.variable(length)}[i] += (long){p.value()};\n"
    )


@construct
def orphaned_loop(p: Program) -> str:
    length, name = p.length(), p.name("f")
    array = p.name("v")
    p.variables.append((array, length))
    written = loop(length, p.schedule() + p.wait(), f"{array}[i] += i * 3;")
    p.outside.append(
        f"static long {array}[{length}];\n__attribute__((noinline)) static void {name}(void) {{\n{written}}}"
    )
    return f"{name}();\n"


@construct
def reduction(p: Program) -> str:
    sum_, operator = p.variable(), p.chance.choice(["+", "^", "|"])
    return loop(p.length(), f" reduction({operator}:{sum_}[0]){p.schedule()}", f"{sum_}[0] {operator}= {p.value()};")


@construct
def least_or_most(p: Program) -> str:
    found, name, operator = p.variable(), p.name("m"), p.chance.choice(["min", "max"])
    p.outside.append(f"static long {name};")
    less = "<" if operator == "min" else ">"
    body = f"long t = i * 7919L % 1009 - 500; if (t {less} {name}) {name} = t;"
    return loop(p.length(), f" reduction({operator}:{name}){p.schedule()}", body) + single(p, f"{found}[0] += {name};")


@construct
def own_reduction(p: Program) -> str:
    sum_, kind, name = p.variable(), p.name("Pair"), p.name("p")
    p.outside.append(
        f"typedef struct {{ long a, b; }} {kind};\n#pragma omp declare reduction(add : {kind} : "
        f"omp_out.a += omp_in.a, omp_out.b ^= omp_in.b) initializer(omp_priv = ({kind}){{0, 0}})\nstatic {kind} {name};"
    )
    added = loop(p.length(), f" reduction(add : {name}){p.schedule()}", f"{name}.a += i; {name}.b ^= i * 5;")
    return added + single(p, f"{sum_}[0] += {name}.a + {name}.b;")


@construct
def scan(p: Program) -> str:
    length, name = p.length(), p.name("s")
    p.outside.append(f"static long {name};")
    body = f"{name} += i;\n#pragma omp scan inclusive({name})\n{p.variable(length)}[i] = {name};"
    return loop(length, f" reduction(inscan, + : {name})", body)


@construct
def last_value(p: Program) -> str:
    name, found = p.name("l"), p.variable()
    p.outside.append(f"static long {name};")
    assigned = loop(p.length(), f" lastprivate({name}){p.schedule()}", f"{name} = i * 7;")
    return assigned + single(p, f"{found}[0] += {name};")


@construct
def collapsed(p: Program) -> str:
    rows = p.chance.randint(1, 9)
    loops = f"for (int i = 0; i < {rows}; i++) for (int j = 0; j < 9; j++)"
    body = f"{p.variable(rows * 9)}[i * 9 + j] += i * 100 + j;"
    return f"#pragma omp for collapse(2){p.schedule()}{p.wait()}\n{loops} {body}\n"


@construct
def ordered(p: Program) -> str:
    sum_ = p.variable()
    body = f"#pragma omp ordered\n{sum_}[0] = {sum_}[0] * 3 % 1000003 + {p.value()};"
    return loop(p.length(100), f" ordered{p.schedule(IN_ORDER)}{p.wait()}", body)


@construct
def doacross(p: Program) -> str:
    length = p.length(100)
    row = p.variable(length)
    body = (
        "#pragma omp ordered depend(sink : i - 1)\n"
        f"{row}[i] = (i ? {row}[i - 1] : 1) * 3 % 10007 + i;\n#pragma omp ordered depend(source)"
    )
    return loop(length, f" ordered(1){p.schedule(IN_ORDER)}{p.wait()}", body)


@construct
def sections(p: Program) -> str:
    count = p.chance.randint(1, 6)
    row = p.variable(count)
    each = "".join(f"#pragma omp section\n{row}[{number}] += {number + 3};\n" for number in range(count))
    return f"#pragma omp sections{p.wait()}\n{{\n{each}}}\n"


@construct
def copied(p: Program) -> str:
    wrong, name = p.variable(), p.name("x")
    return (
        f"{{ long {name} = 0;\n#pragma omp single copyprivate({name})\n{name} = 9;\n"
        f"if ({name} != 9)\n#pragma omp atomic\n{wrong}[0]++;\n}}\n"
    )


@construct
def one_thread(p: Program) -> str:
    how = p.chance.choice(["master", f"single{p.wait()}"])
    return f"#pragma omp {how}\n{p.variable()}[0] += {p.chance.randint(1, 99)};\n"


@construct
def critical(p: Program) -> str:
    sums, name = p.variable(3), p.chance.choice(["", "(one)", "(two)"])
    body = f"#pragma omp critical{name}\n{{ {sums}[0] += i; {sums}[1] += {sums}[2] == 0; {sums}[2]++; {sums}[2]--; }}"
    return loop(p.length(257), p.schedule() + p.wait(), body)


@construct
def lock(p: Program) -> str:
    sum_, name, nest = p.variable(), p.name("lock"), p.chance.choice(["", "nest_"])
    p.outside.append(f"static omp_{nest}lock_t {name};")
    p.inside.append(f"omp_init_{nest}lock(&{name});")
    body = f"omp_set_{nest}lock(&{name}); {sum_}[0] += i; omp_unset_{nest}lock(&{name});"
    return loop(p.length(257), p.schedule() + p.wait(), body)


@construct
def atomic(p: Program) -> str:
    return loop(p.length(), p.schedule() + p.wait(), f"#pragma omp atomic\n{p.variable()}[0] += {p.value()};")


@construct
def captured(p: Program) -> str:
    length = p.length()
    body = f"long t;\n#pragma omp atomic capture\nt = {p.variable()}[0]++;\n{p.variable(length)}[t % {length}] = 1;"
    return loop(length, p.schedule() + p.wait(), body)


@construct
def private_to_threads(p: Program) -> str:
    wrong, name = p.variable(), p.name("t")
    p.outside.append(f"static long {name};\n#pragma omp threadprivate({name})")
    return (
        f"{name} = omp_get_thread_num();\n#pragma omp barrier\n"
        f"if ({name} != omp_get_thread_num())\n#pragma omp atomic\n{wrong}[0]++;\n"
    )


@construct
def blocks_of_the_heap(p: Program) -> str:
    sum_ = p.variable()
    body = f"long* b = malloc((1 + i % 50) * sizeof *b); b[0] = b[i % 50] = i; {sum_}[0] += b[0]; free(b);"
    return loop(p.length(100), f" reduction(+:{sum_}[0]){p.schedule()}", body)


@construct
def tasks(p: Program) -> str:
    count = p.chance.randint(1, 60)
    clause = p.chance.choice(["", " untied", " if(0)", " final(j > 3)", " priority(j)", " mergeable"])
    body = f"#pragma omp task firstprivate(j){clause}\n{p.variable(count)}[j] += j * 5;"
    end = p.chance.choice(["", "#pragma omp taskwait\n"])
    return single(p, f"for (int j = 0; j < {count}; j++) {{\n{body}\n}}\n{end}")


@construct
def dependent_tasks(p: Program) -> str:
    sum_ = p.variable()
    body = f"#pragma omp task depend(inout : {sum_}[0]) firstprivate(j)\n{sum_}[0] = {sum_}[0] * 3 % 1000003 + j;"
    return single(p, f"for (int j = 0; j < {p.chance.randint(1, 30)}; j++) {{\n{body}\n}}")


@construct
def grouped_tasks(p: Program) -> str:
    sums = p.variable(2)
    inner = f"#pragma omp task\n{{\n#pragma omp atomic\n{sums}[0] += j;\n}}"
    body = (
        f"for (int j = 0; j < {p.chance.randint(1, 20)}; j++) {{\n#pragma omp task firstprivate(j)\n{{\n{inner}\n}}\n}}"
    )
    return single(p, f"#pragma omp taskgroup\n{{\n{body}\n}}\n{sums}[1] = {sums}[0];")


@construct
def reducing_tasks(p: Program) -> str:
    sum_, name = p.variable(), p.name("x")
    body = f"#pragma omp task in_reduction(+ : {name})\n{name} += j;"
    group = (
        f"#pragma omp taskgroup task_reduction(+ : {name})\nfor (int j = 0; j < {p.length(100)}; j++) {{\n{body}\n}}"
    )
    return single(p, f"long {name} = 0;\n{group}\n{sum_}[0] += {name};")


@construct
def task_loop(p: Program) -> str:
    length, clause = p.length(), p.chance.choice(["", " grainsize(3)", " num_tasks(5)", " nogroup"])
    body = f"{p.variable(length)}[i] += {p.value()};"
    return single(p, f"#pragma omp taskloop{clause}\nfor (int i = 0; i < {length}; i++) {body}")


@construct
def recursive_tasks(p: Program) -> str:
    return single(p, f"{p.variable()}[0] += fibonacci({p.chance.randint(3, 9)});")


@construct
def inner_region(p: Program) -> str:
    sum_, team = p.variable(), p.chance.randint(1, 3)
    head = f"#pragma omp parallel for num_threads({team}) reduction(+:{sum_}[0]){p.schedule()}"
    return single(p, f"{head}\nfor (int i = 0; i < {p.length()}; i++) {sum_}[0] += i;")


@construct
def repeated(p: Program) -> str:
    chosen = p.chance.choice([each for each in CONSTRUCTS if each is not repeated])(p)
    return f"for (int turn = 0; turn < {p.chance.randint(1, 20)}; turn++) {{\n{chosen}#pragma omp barrier\n}}\n"
