"""The page: complete, self-contained, well-formed, and honest about what is missing or wrong."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import kumiki.report as report
import pytest
from jsonschema import Draft202012Validator
from kumiki.report.analysis.select import PROGRAMS
from synthetic import BY_NAME, SUITES, Host

LARGEST_PAGE = 5_000_000
VOID = {"meta", "input", "br", "link", "img", "hr"}
SECTIONS = (*SUITES, "advice", "rows", "environment", "method")


class Page(HTMLParser):
    """Checks nesting while it reads, and gathers ids, references and the text of each section."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.sections: dict[str, str] = {}
        self._inside: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(dict(attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self._inside.append(dict(attributes).get("id") or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(dict(attributes))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]} at line {self.getpos()[0]}")
            return
        self.open.pop()
        if tag in ("td", "th"):
            self.handle_data(" ")
        if tag == "section":
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside and "script" not in self.open:
            self.sections[self._inside[-1]] = self.sections.get(self._inside[-1], "") + data

    def _note(self, attributes: dict[str, str | None]) -> None:
        self.ids += [value for name, value in attributes.items() if name == "id" and value]
        self.references += [
            value for name, value in attributes.items() if name in ("href", "src", "xlink:href") and value
        ]


def write(host: Host, directory: Path) -> tuple[str, Page]:
    path = report.write(host.save(directory))
    assert path == directory / "index.html"
    text = path.read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page]:
    return write(Host(), tmp_path_factory.mktemp("whole"))


def test_is_well_formed(whole: tuple[str, Page]) -> None:
    assert whole[1].faults == []


def test_ids_are_unique_and_every_link_arrives(whole: tuple[str, Page]) -> None:
    _, page = whole
    assert len(page.ids) == len(set(page.ids))
    assert {reference for reference in page.references if reference.startswith("#")} <= {
        f"#{name}" for name in page.ids
    }


def test_reaches_for_nothing_outside(whole: tuple[str, Page]) -> None:
    text, page = whole
    assert [reference for reference in page.references if not reference.startswith("#")] == []
    assert not re.search(r"https?://|@import|url\((?!#)", text)


def test_points_lead_to_their_rows_and_tell_them(whole: tuple[str, Page]) -> None:
    assert re.search(r'<a href="#row-\d+"><title>laplace\.time, Kumiki', whole[0])
    assert "_blank" not in whole[0]


def test_is_small(tmp_path: Path) -> None:
    text, _ = write(Host(cores=64, bus_threads=12), tmp_path)
    assert len(text.encode()) < LARGEST_PAGE


def test_synthetic_results_are_what_the_tool_writes() -> None:
    """Otherwise these tests would check another format."""
    schema = json.loads(
        (Path(report.__file__).parents[1] / "results" / "results.schema.json").read_text(encoding="utf-8")
    )
    Draft202012Validator(schema).validate(Host(mpis=("openmpi",)).results)


def test_every_section_is_there(whole: tuple[str, Page]) -> None:
    _, page = whole
    for name in SECTIONS:
        assert page.sections.get(name, "").strip(), f"the section {name} is missing or empty"
        assert "could be measured" not in page.sections[name]


def test_every_table_and_figure_of_the_paper_has_its_counterpart(whole: tuple[str, Page]) -> None:
    text, _ = whole
    for counterpart in (
        "Table 1", "Table 2", "Tables 3 and 4", "Table 5", "Figure 4", "Figures 4 and 5", "Figures 6 and 7",
        "Figures 8 and 9", "Figure 10", "Figure 11", "Figure 12", "Figure 13",
    ):  # fmt: skip
        assert f"After {counterpart} of the COMPaS paper." in text
    assert text.count("After Figure 13 of the COMPaS paper.") == 1


def test_every_speed_up_states_its_base_case(whole: tuple[str, Page]) -> None:
    text, _ = whole
    captions = re.findall(r"<figcaption>.*?</figcaption>", text, flags=re.S)
    speedups = [caption for caption in captions if "speed-up over processors" in caption]
    assert len(speedups) == 4
    for caption in speedups:
        assert re.search(r"Base case: the sequential form of the same problem, [\d.]+ ms", caption)


def test_base_case_is_one_rank_of_one_thread_without_the_sequential_form(tmp_path: Path) -> None:
    host = Host(suites=("laplace",))
    for row in [row for row in host.rows if row["parameters"]["form"] == "sequential"]:
        host.rows.remove(row)
    text, _ = write(host, tmp_path)
    assert "Base case: one rank of one thread of the same problem" in text


def test_numbers_carry_units_and_meaningful_digits(whole: tuple[str, Page]) -> None:
    _, page = whole
    assert not re.search(r"\d\.\d{6,}", " ".join(page.sections.values()))
    assert re.search(r"\d ns\b", page.sections["advice"])


def test_oversubscribed_points_are_hollow_and_marked(tmp_path: Path) -> None:
    host = Host(suites=("laplace",))
    _, page = write(host, tmp_path)
    assert "○" in page.sections["laplace"] and "oversubscribed" in page.sections["rows"]
    assert "fill: var(--surface)" in (tmp_path / "index.html").read_text(encoding="utf-8")
    plain = tmp_path / "plain"
    plain.mkdir()
    for row in host.rows:
        row["oversubscribed"] = False
    _, page = write(host, plain)
    assert "○" not in page.sections["laplace"]
    assert "fill: var(--surface)" not in (plain / "index.html").read_text(encoding="utf-8")


def test_an_implementation_has_one_colour_everywhere(whole: tuple[str, Page]) -> None:
    text, _ = whole
    dots = dict(re.findall(r'<i class="dot" style="background:var\(--([\w-]+)\)"></i>(Open MPI|MPICH|OpenMP)<', text))
    keys = re.findall(r'fill="var\(--([\w-]+)\)">(?:(?!<li>).)*?</svg>(?:all-MPI, )?(Open MPI|MPICH|OpenMP)\b', text)
    assert {name: role for role, name in dots.items()} == {"Open MPI": "openmpi", "MPICH": "mpich", "OpenMP": "openmp"}
    assert keys and all(dots[role] == name for role, name in keys)


def test_a_wrong_result_is_marked_and_kept_out(tmp_path: Path) -> None:
    host = Host()
    wrong = host.find("laplace.time", form="hybrid", ranks=1, threads=2)
    wrong["validated"] = False
    wrong["median"], wrong["ci95"] = 1e-3, [0.9e-3, 1.1e-3]  # so fast that it would win every comparison
    text, page = write(host, tmp_path)
    assert "1 row failed validation" in text
    assert (
        "Validation failed for" in page.sections["laplace"]
        and "were validated and are correct" not in page.sections["laplace"]
    )
    assert re.search(rf'<tr id="row-{wrong["id"]}" class="wrong">', text) and "WRONG RESULT" in page.sections["rows"]
    figures = re.findall(r"<figure.*?</figure>", text, flags=re.S)
    assert not any(f'href="#row-{wrong["id"]}"' in figure for figure in figures)
    assert not any("1.00 ms" in piece.text for piece in report.advice(host.results))


def test_machine_and_environment_are_escaped_and_shown(whole: tuple[str, Page]) -> None:
    text, page = whole
    assert "<h1>Example Xeon 8480 &lt;engineering sample&gt;, 2 cores, 31 GiB of memory, Linux 6.18.2</h1>" in text
    assert "2026-11-20 09:41 UTC" in text
    for word in ("-O3 -march=native", "performance", "2 × 48 KiB, lines of 64 B", "0123abc"):
        assert word in page.sections["environment"]


def test_absent_and_failed_rows_are_worded(tmp_path: Path) -> None:
    host = Host(mpis=("openmpi",))
    failed = host.find("laplace.time", "openmpi", ranks=2)
    failed.update(median=None, ci95=None, n=0, validated=None, failed="The program ended with code 9 after 3 s.")
    text, page = write(host, tmp_path)
    assert "mpich was not found when Kumiki was built" in page.sections["rank-barrier"]
    assert "The program ended with code 9 after 3 s." in page.sections["laplace"]
    assert "failed" in page.sections["rows"] and "absent" in page.sections["rows"]
    assert Page(text).faults == []


@pytest.mark.parametrize("suite", SUITES)
def test_one_suite_alone_has_the_only_section(suite: str, tmp_path: Path) -> None:
    _, page = write(Host(suites=(suite,)), tmp_path)
    assert page.faults == []
    assert [name for name in SUITES if name in page.sections] == [suite]


@pytest.mark.parametrize("suite", BY_NAME)
def test_a_program_measured_by_name_has_its_section_and_no_other_report_has(suite: str, tmp_path: Path) -> None:
    _, page = write(Host(suites=("laplace",)), tmp_path)
    assert suite not in page.sections
    text, page = write(Host(suites=(suite,)), tmp_path)
    assert page.faults == []
    assert "All " in page.sections[suite] and "where the time goes" in page.sections[suite]
    source = next(program.paper.source for program in PROGRAMS if program.suite == suite)
    assert f"of {source}." in text and "of the COMPaS paper." not in page.sections[suite]


def test_himeno_is_shown_at_the_size_of_the_paper(tmp_path: Path) -> None:
    _, page = write(Host(suites=("himeno",)), tmp_path)
    section = page.sections["himeno"]
    assert "Here: size M, 10 sweeps." in section and "size L, 2 sweeps" in section
    assert "rate over processors" in section and "MFLOPS" in section and "DGEMM" not in section


def test_pi_is_shown_by_random_points_with_integration_beside(tmp_path: Path) -> None:
    _, page = write(Host(suites=("pi",)), tmp_path)
    assert "Here: 2147483647 points, monte carlo." in page.sections["pi"]
    assert "2147483647 points, integration" in page.sections["pi"]


def test_nothing_measured_at_all(tmp_path: Path) -> None:
    text, page = write(Host(suites=(), complete=False), tmp_path)
    assert page.faults == []
    assert "The evaluation was interrupted" in text and "No advice can be drawn" in page.sections["summary"]
    assert not set(SUITES) & set(page.sections)


@pytest.mark.parametrize("kept", [1, 3, 40, 150, 260])
def test_interrupted_anywhere(kept: int, tmp_path: Path) -> None:
    host = Host(complete=False)
    del host.rows[kept:]
    text, page = write(host, tmp_path)
    assert page.faults == [] and text.count("The evaluation was interrupted") == 1


def test_every_median_missing(tmp_path: Path) -> None:
    host = Host()
    for row in host.rows:
        row.update(median=None, ci95=None, n=0, validated=None, absent="Nothing here could be measured.")
    _, page = write(host, tmp_path)
    assert page.faults == []
    for name in SUITES:
        assert "Nothing here could be measured" in page.sections[name]
    assert "No advice can be drawn" in page.sections["summary"]


def test_rows_of_one_sample_without_interval(tmp_path: Path) -> None:
    host = Host(suites=("laplace", "remote-memory"))
    for row in host.rows:
        row.update(ci95=None, n=1)
    _, page = write(host, tmp_path)
    assert page.faults == [] and "could be measured" not in page.sections["laplace"]


def test_without_samples(tmp_path: Path) -> None:
    host = Host(suites=("remote-memory",))
    host.save(tmp_path)
    (tmp_path / "samples.json").unlink()
    assert Page(report.write(tmp_path).read_text(encoding="utf-8")).faults == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "measure first"),
        ("{", "measure again"),
        ("[]", "measure again"),
        ('{"schema_version": 9}', "schema version 9"),
    ],
)
def test_unusable_results_are_explained(content: str | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "results.json").write_text(content, encoding="utf-8")
    with pytest.raises(report.ResultsError, match=words):
        report.write(tmp_path)


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    host = Host(suites=("cg",))
    assert write(host, tmp_path)[0] == write(host, tmp_path)[0]


def test_routines_have_a_figure_for_each_implementation(tmp_path: Path) -> None:
    text, page = write(Host(suites=("mpi",)), tmp_path)
    assert page.faults == []
    for name in ("Kumiki", "Open MPI", "MPICH"):
        assert f"The routines of {name} over the size of the message" in text
        assert f"The routines of {name} as a single process sees them" in text
    assert "The best routine of each implementation" in text and "The best routine by size" in text
    assert text.count("The time of ssend includes the preparation") == 2
    assert "sendrecv" in page.sections["mpi"] and "mpi" not in write(Host(), tmp_path)[1].sections


@pytest.mark.parametrize(
    ("host", "where", "bound"),
    [
        (Host(suites=("remote-memory", "message")), "within a host", "bound: memcpy"),
        (Host(suites=("network", "message"), hosts=2), "between hosts", "bound: plain TCP"),
    ],
    ids=["host", "hosts"],
)
def test_messages_have_their_section(host: Host, where: str, bound: str, tmp_path: Path) -> None:
    _, page = write(host, tmp_path)
    assert page.faults == []
    section = page.sections["message"]
    for heading in ("Short messages", "The shortest messages", "Bandwidth of messages", "Time of messages"):
        assert f"{heading} {where}" in section
    assert bound in section and "Kumiki message from a region" in section
    assert f"Messages of 16 MiB {where} over fragment length" in section
    assert "message" not in write(Host(), tmp_path)[1].sections
