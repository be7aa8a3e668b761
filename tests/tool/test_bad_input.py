"""Bad input of every kind, as a table: each case ends with its documented code and says in words what is wrong.

A case is the arguments, as a shell would cut them, and what standard error must say (one of the words between bars).
`{...}` are files and folders that `broken` makes.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from fake_native import Native

USAGE, ENVIRONMENT = 2, 3

ROW = {
    "id": 0,
    "suite": "cg",
    "metric": "cg.time",
    "implementation": "kumiki",
    "parameters": {"ranks": 1},
    "unit": "s",
    "better": "lower",
    "median": 1.0,
    "ci95": [0.9, 1.1],
    "n": 3,
    "converged": True,
    "oversubscribed": False,
    "validated": True,
}

EVALUATE = [
    ("--quik", "--quick"),
    ("--suite", "--suite"),
    ("--suite ''", "not a list of names"),
    ("--suite ,", "not a list of names"),
    ("--suite memory,", "not a list of names"),
    ("--suite nosuch", "nosuch"),
    ("--suite memry", "memory"),
    ("--suite memory,nosuch", "nosuch"),
    ("--ranks 0", "whole numbers of at least 1"),
    ("--ranks -1", "whole numbers of at least 1"),
    ("--ranks 1,", "whole numbers of at least 1"),
    ("--ranks ''", "whole numbers of at least 1"),
    ("--ranks two", "whole numbers of at least 1"),
    ("--ranks 1.5", "whole numbers of at least 1"),
    ("--ranks 1e9", "whole numbers of at least 1"),
    ("--ranks 1000000000", "at most 4096 ranks"),
    ("--ranks 2,4097", "at most 4096 ranks"),
    ("--threads 0", "whole numbers of at least 1"),
    ("--threads none", "whole numbers of at least 1"),
    ("--threads 1,x", "whole numbers of at least 1"),
    ("--threads 1000000", "at most 4096 threads"),
    ("--seed -1", "--seed"),
    ("--seed x", "--seed"),
    ("--seed 1.5", "--seed"),
    ("--time-limit 0", "not above 0"),
    ("--time-limit -3", "not above 0"),
    ("--time-limit nan", "not above 0"),
    ("--time-limit soon", "--time-limit"),
    ("--time-limit inf", "'--time-limit': inf"),
    ("--time-limit 1e300 -- sleep {threads}", "'--time-limit': 1e+300"),
    ("--format xml", "--format"),
    ("--format", "--format"),
    ("--output", "--output"),
    ("--output {file}", "cannot be used"),
    ("--output {file}/deeper", "cannot be used"),
    ("--output {foreign}", "not Kumiki's"),
    ("--output {not_json}", "broken"),
    ("--resume --output {empty}", "there is no"),
    ("--resume --output nowhere", "there is no"),
    ("--resume --output {not_json}", "not JSON"),
    ("--resume --output {future}", "schema version"),
    ("--resume --output {other}", "other arguments"),
    ("--hosts a", "names one host"),
    ("--hosts ''", "must name hosts"),
    ("--hosts a,,b", "host"),
    ("--hostfile nowhere", "nowhere"),
    ("--hostfile {empty}", "cannot be read|is a folder|directory"),
    ("--hostfile {blank}", "host"),
    ("--hosts a,b --alone", "exclude each other"),
    ("--hosts a,b --hostfile {blank}", "exclude each other"),
    ("--cluster x --alone", "exclude each other"),
    ("--remote-shell ssh", "needs --hosts or --hostfile"),
    ("""--hosts a,b --remote-shell "ssh 'x" """, "quotes"),
    ("--repeat 3", "after all options"),
    ("--repeat 0 -- true {threads}", "--repeat"),
    ("--repeat x -- true {threads}", "--repeat"),
    ("--metric x", "after all options"),
    ("--unit s", "after all options"),
    ("--better lower", "after all options"),
    ("--size 3", "after all options"),
    ("--power 2", "after all options"),
    ("--scaling weak", "after all options"),
    ("--sequential true", "after all options"),
    ("--", "no command after --"),
    ("--quick --", "no command after --"),
    ("-- nosuchprogram {threads}", "there is no program 'nosuchprogram'"),
    ("-- ./nosuch {threads}", "there is no program './nosuch'"),
    ("-- 'sleep 0.1' {threads}", "unquoted|there is no program"),
    ("-- ''", "there is no program"),
    ("-- memory {threads}", "--suite memory"),
    ("-- sleep 0.1", "nothing in the command changes"),
    ("-- sleep {thread}", "{threads}"),
    ("-- sleep {rank}", "{ranks}"),
    ("-- sleep {size}", "nothing in the command changes|--size"),
    ("-- sleep {threads} {size}", "--size"),
    ("--size 5 -- sleep {threads}", "no {size}"),
    ("--size 0 -- sleep {size} {threads}", "--size"),
    ("--size x -- sleep {size} {threads}", "--size"),
    ("--power 0 -- sleep {threads}", "not above 0"),
    ("--power -1 -- sleep {threads}", "not above 0"),
    ("--power nan -- sleep {threads}", "not above 0"),
    ("--power inf -- sleep {threads}", "--power: inf"),
    ("--scaling weak --size 1000 --power 0.0001 -- sleep {size} {threads}", "--size 1000 --power 0.0001"),
    ("--scaling weak --size 1000 --power 5e-324 -- sleep {size} {threads}", "--size 1000 --power"),
    (f"--scaling weak --size {10**400} -- sleep {{size}} {{threads}}", "--size"),
    (f"--threads 1,{10**400} -- sleep {{threads}}", "at most 4096 threads"),
    (f"--ranks 1,{10**400} -- sleep {{ranks}}", "at most 4096 ranks"),
    (f"--repeat {10**9} -- sleep {{threads}}", "--repeat"),
    ("--scaling up -- sleep {threads}", "--scaling"),
    ("--scaling both -- sleep {threads}", "{size}"),
    ("--ranks 2 -- sleep {threads}", "no {ranks}"),
    ("--suite cg -- sleep {threads}", "separately"),
    ("--hosts a,b -- sleep {threads}", "kumiki run --hosts"),
    ("--threads 2 -- sh -c 'OMP_NUM_THREADS=1 sleep 0'", "OMP_NUM_THREADS"),
    ("--metric '(' -- sleep {threads}", "not a regular expression"),
    ("--metric '[' -- sleep {threads}", "not a regular expression"),
    ("--metric '*' -- sleep {threads}", "not a regular expression"),
    ("--metric x -- sleep {threads}", "0 groups"),
    ("--metric '(x)(y)' -- sleep {threads}", "2 groups"),
    ("--metric '(x)' --metric-name 'A B' -- sleep {threads}", "lower-case"),
    ("--metric '(x)' --metric-name time -- sleep {threads}", "other than 'time'"),
    ("--metric '(x)' --metric-name '' -- sleep {threads}", "lower-case"),
    ("--metric '(x)' --better higher -- sleep {threads}", "--unit"),
    ("--metric '(x)' --unit 'a\udcff' -- sleep {threads}", "--unit"),
    ("--metric '(x)' --better up -- sleep {threads}", "--better"),
    ("--metric-name x -- sleep {threads}", "no --metric"),
    ("--unit s -- sleep {threads}", "no --metric"),
    ("--better lower -- sleep {threads}", "no --metric"),
    ("--sequential '' -- sleep {threads}", "empty"),
    ("""--sequential "a 'b" -- sleep {threads}""", "cannot be split"),
    ("--sequential nosuch -- sleep {threads}", "there is no program"),
]

COMPARE = [
    ("", "A B"),
    ("{good}", "two or more results"),
    ("{good} nowhere", "there is no"),
    ("nowhere {good}", "there is no"),
    ("{good} {empty}", "there is no"),
    ("{good} {file}", "there is no|not JSON|cannot be read"),
    ("{good} {not_json}", "not JSON"),
    ("{good} {list}", "broken"),
    ("{good} {no_rows}", "rows"),
    ("{good} {future}", "schema version 99"),
    ("{good} {median_text}", "rows[0].median"),
    ("{good} {interval_short}", "rows[0].ci95"),
    ("{good} {metric_odd}", "rows[0].metric"),
    ("{good} {better_odd}", "rows[0].better"),
    ("{good} {count_negative}", "rows[0].n"),
    ("{good} {parameter_list}", "rows[0].parameters.ranks"),
    ("{good} {extra_field}", "colour"),
    ("{good} {samples_not_json}", "samples.json is broken"),
    ("{good} {samples_list}", "samples.json is broken"),
    ("{good} {samples_text}", "samples.json is broken"),
    ("{good} {samples_number}", "samples.json is broken"),
    ("{good} {samples_binary}", "samples.json is broken"),
    ("{good} {samples_nested}", "samples.json is broken"),
    ("{good} {nested}", "not JSON"),
    ("{good} {good} --fail-if-slower -1", "--fail-if-slower"),
    ("{good} {good} --fail-if-slower x", "--fail-if-slower"),
    ("{good} {good} --format csv", "--format"),
    ("{good} {good} --format xml", "--format"),
    ("{good} {good} --output {file}", "file"),
    ("{good} {good} --nosuch", "nosuch"),
]

OTHERS = [
    ("nosuch", "nosuch"),
    ("evalute", "evalute"),
    ("--nosuch", "nosuch"),
    ("report", "DIR"),
    ("report nowhere", "there is no"),
    ("report {empty}", "there is no"),
    ("report {not_json}", "not JSON"),
    ("report {median_text}", "rows[0].median"),
    ("report {samples_text}", "samples.json is broken"),
    ("report {good} {good}", "extra|unexpected"),
    ("predict maestro --machine {nested.toml}", "nested.toml"),
    ("predict linpack --set grid=0x1", "grid is a grid of process rows x columns such as 2x3, not '0x1'"),
    ("list --format csv", "--format"),
    ("list extra", "extra"),
    ("doctor --format csv", "--format"),
    ("doctor extra", "extra"),
    ("tune --seed -1", "--seed"),
    ("tune --seed x", "--seed"),
    ("tune --output {empty}", "is a folder"),
    ("tune --output {file}/tuned", "cannot be written"),
    ("tune --output {loop}", "cannot be written"),
    ("tune --hosts a", "names one host"),
    ("tune --hosts a,b --alone", "exclude each other"),
    ("tune --remote-shell ssh", "needs --hosts or --hostfile"),
    ("tune extra", "extra"),
    ("cluster", "create|Usage"),
    ("cluster nosuch", "nosuch"),
    ("cluster create --hosts 0", "--hosts"),
    ("cluster create --hosts x", "--hosts"),
    ("cluster create --hosts 1001", "--hosts"),
    ("cluster create --rate fast", "fast"),
    ("cluster create --rate 0mbit", "0mbit"),
    ("cluster create --rate -1mbit", "rate"),
    ("cluster create 'a b'", "a b"),
    ("cluster create ../x", "../x"),
    ("cluster list --format csv", "--format"),
    ("cluster exec", "command|Usage"),
    ("cluster exec x --host 1", "command"),
    ("advise --limit inf true", "'--limit': inf"),
    ("advise --page inf true", "'--page': inf"),
]

CASES = [
    *((f"evaluate {arguments}", words) for arguments, words in EVALUATE),
    *((f"compare {arguments}", words) for arguments, words in COMPARE),
    *OTHERS,
]


@pytest.fixture
def broken(native: Native) -> dict[str, Path]:
    """Folders and files that cannot be used, each for its own reason, and one good result."""

    def result(name: str, text: str | None = None, samples: str = '{"0": [0.9, 1.0, 1.1]}', **fields: object) -> None:
        folder = native.prefix / name
        folder.mkdir()
        content = {**good, "rows": [{**ROW, **fields}]}
        (folder / "results.json").write_text(text if text is not None else json.dumps(content))
        (folder / "samples.json").write_bytes(samples.encode("latin-1"))

    ended = native.kumiki("evaluate", "--suite", "thread-barrier", "--quick", "--output", "other")
    assert ended.returncode == 0, ended.stderr
    good = json.loads((native.prefix / "other" / "results.json").read_text())
    result("good")
    result("not_json", "{")
    result("list", "[]")
    result("no_rows", json.dumps({name: value for name, value in good.items() if name != "rows"}))
    result("future", json.dumps({**good, "schema_version": 99}))
    result("median_text", median="many")
    result("interval_short", ci95=[1.0])
    result("metric_odd", metric="Time")
    result("better_odd", better="faster")
    result("count_negative", n=-1)
    result("parameter_list", parameters={"ranks": [1]})
    result("extra_field", colour="red")
    result("samples_not_json", samples="{")
    result("samples_list", samples="[1, 2]")
    result("samples_text", samples='{"0": ["many"]}')
    result("samples_number", samples='{"0": 3}')
    result("nested", "[" * 100_000)
    result("samples_nested", samples="[" * 100_000)
    (native.prefix / "nested.toml").write_text("burst = " + "[" * 100_000)
    result("samples_binary", samples='{"0": [\xff]}')
    (native.prefix / "empty").mkdir()
    (native.prefix / "foreign").mkdir()
    (native.prefix / "foreign" / "thesis.tex").write_text("do not touch")
    (native.prefix / "file").write_text("")
    (native.prefix / "blank").write_text("# nobody\n\n")
    (native.prefix / "loop").symlink_to("loop")
    return {entry.name: entry for entry in native.prefix.iterdir()}


@pytest.mark.parametrize("part", range(16))
def test_bad_input_is_a_sentence(native: Native, broken: dict[str, Path], part: int) -> None:
    """One part of the table; the unusable files are made once for each part."""
    before = {path: path.read_bytes() for path in native.prefix.rglob("*") if path.is_file()}
    wrong = []
    for line, words in CASES[part::16]:
        arguments = [_filled(word, broken) for word in shlex.split(line)]
        ended = native.kumiki(*arguments)
        said = ended.stderr if line != "cluster" else ended.stdout + ended.stderr
        if ended.returncode != USAGE:
            wrong.append(f"{line}: exit code {ended.returncode}: {ended.stderr[-300:]}")
        elif "Traceback" in said or not any(part in said for part in words.split("|")):
            wrong.append(f"{line}: does not say '{words}': {said[-300:]}")
    assert not wrong, "\n".join(wrong)
    changed = [path for path, content in before.items() if path.read_bytes() != content]
    assert [path.name for path in changed if path.name not in ("stdout", "stderr", "evaluate.log")] == []


def _filled(word: str, files: dict[str, Path]) -> str:
    for name, path in files.items():
        word = word.replace(f"{{{name}}}", str(path.name))
    return word
