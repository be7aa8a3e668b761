"""The page's first screen and its folds; neither legends nor captions mention anything that is not drawn."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import kumiki.report as report
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.report.advisers.kinds import ALERT, Advice
from kumiki.report.headlines import FEWEST, MOST, headlines
from kumiki.report.page.html import code
from synthetic import Host
from test_report_own import Own, amdahl
from test_report_page import Page

SCREENS = {"desktop": (1280, 800, 3), "phone": (390, 844, 5)}
"""Width and height of a screen, and the maximum number of screens for the folded page."""
HOSTS: dict[str, Any] = {
    "two": Host(suites=("memory", "remote-memory", "laplace", "matmul")),
    "one": Host(cores=1, suites=("memory", "laplace", "cg")),
    "eight": Host(cores=8, bus_threads=3, suites=("memory", "laplace", "matmul")),
    "noisy": Host(noise=0.6, suites=("thread-barrier", "laplace", "cg")),
    "message": Host(suites=("message",)),
    "program": Host(suites=("cg",)),
    "hosts": Host(suites=("network", "laplace", "cg"), hosts=3),
    "interrupted": Host(suites=("memory", "thread-barrier"), complete=False),
    "own": Own(amdahl(0.1), noise=0.01),
}
TELL = """<script>
const all = document.documentElement, open = query => document.querySelectorAll(`${query} > details[open]`).length;
const tell = () => [window.name, all.scrollHeight, all.scrollWidth, innerWidth, open("#rows"), open(".suite")];
addEventListener("load", () => parent.postMessage(tell(), "*"));
</script>"""
GATHER = """<!DOCTYPE html><title>pages</title><body><script>
const note = words => document.body.append(Object.assign(document.createElement("p"), {textContent: words.join(" ")}));
addEventListener("message", event => note(event.data));
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("pages")
    for name, host in HOSTS.items():
        (found / name).mkdir()
        report.write(host.save(found / name))
    platforms = found / "platforms"
    platforms.mkdir()
    sides = [(name, HOSTS[name].results, HOSTS[name].samples) for name in ("two", "eight")]
    (platforms / "index.html").write_text(report.side_by_side(sides).page(), encoding="utf-8")
    return found


def text_of(folder: Path, name: str) -> str:
    return (folder / name / "index.html").read_text(encoding="utf-8")


EVERY = [*HOSTS, "platforms"]


@pytest.mark.parametrize("name", EVERY)
def test_first_screen_holds_a_few_sentences_and_one_picture(folder: Path, name: str) -> None:
    text = text_of(folder, name)
    (first,) = re.findall(r'<section class="first".*?</section>', text, flags=re.S)
    assert FEWEST <= first.count('<div class="piece">') <= MOST
    pictures = 0 if name == "interrupted" else 1  # two threads make no curve
    assert first.count("<figure") == pictures == first.count('id="overview"')
    assert Page(text).faults == [] and len(Page(text).ids) == len(set(Page(text).ids))


@pytest.mark.parametrize("name", EVERY)
def test_all_else_is_folded_away_by_section(folder: Path, name: str) -> None:
    text = text_of(folder, name)
    main = text[text.index("<main>") : text.index("</main>")]
    sections = re.findall(r'<section class="suite" id="[^"]+">\s*<details>\s*<summary><h2>', main)
    assert len(sections) == main.count("<section") and "<details open" not in text


@pytest.mark.parametrize("name", EVERY)
def test_headings_are_in_order(folder: Path, name: str) -> None:
    levels = [int(level) for level in re.findall(r"<h(\d)", text_of(folder, name))]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", [name for name in HOSTS if name not in ("platforms", "own")])
def test_nothing_stands_there_that_was_not_measured(folder: Path, name: str) -> None:
    rows = HOSTS[name].rows
    measured = {row["suite"] for row in rows}
    page = Page(text_of(folder, name))
    assert ("unsettled" in page.sections) == any(row["median"] and not row["converged"] for row in rows)
    measured.add("unsettled")
    assert set(page.sections) - measured - {"advice"} == {"summary", "rows", "environment", "method"}


@pytest.fixture(scope="module")
def seen(folder: Path) -> dict[str, list[int]]:
    """Chromium's measurements of each page on each screen: height, width, the screen's width, open folds."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here: the heights of the pages were not measured")
    frames = []
    for screen, (width, height, _) in SCREENS.items():
        for name in EVERY:
            places = {"": ""} | ({"#row-7": "@row", "#table-1": "@table"} if name == "two" else {})
            for place, suffix in places.items():
                path = folder / name / "told.html"
                path.write_text(text_of(folder, name).replace("</body>", f"{TELL}</body>"), encoding="utf-8")
                frames.append(
                    f'<iframe name="{name}{suffix}@{screen}" src="{name}/told.html{place}" width="{width}" '
                    f'height="{height}" style="border:0"></iframe>'
                )
    (folder / "all.html").write_text(GATHER + "".join(frames), encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    profile = f"--user-data-dir={folder / 'profile'}"
    ended = subprocess.run(
        [*command, profile, (folder / "all.html").as_uri()], capture_output=True, text=True, timeout=300
    )
    told = [line.split() for line in re.findall(r"<p>([^<]+)</p>", ended.stdout)]
    found = {name: [json.loads(word) for word in words] for name, *words in told}
    assert len(found) == len(frames), ended.stderr[-2000:]
    return found


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", EVERY)
def test_folded_page_is_short_and_no_wider_than_its_screen(seen: dict[str, list[int]], name: str, screen: str) -> None:
    _, screen_height, most = SCREENS[screen]
    height, width, screen_width, *_ = seen[f"{name}@{screen}"]
    assert height <= most * screen_height
    assert width <= screen_width


@pytest.mark.parametrize("screen", SCREENS)
def test_a_link_opens_the_folds_that_it_leads_into(seen: dict[str, list[int]], screen: str) -> None:
    assert seen[f"two@{screen}"][3:] == [0, 0]
    assert seen[f"two@row@{screen}"][3:] == [1, 1]
    assert seen[f"two@table@{screen}"][3:] == [0, 1]


# -- which sentences ---------------------------------------------------------------------------------------------------


def piece(kind: str, heading: str = "", stake: float = 1.0) -> Advice:
    return Advice(kind, heading or kind, f"{kind} {stake}", [], stake)


def test_what_an_owner_needs_comes_first_and_trust_last() -> None:
    advice = [piece("trust"), piece("waiting"), piece("memory"), piece("setting"), piece("program"), piece("remote")]
    assert [each.kind for each in headlines(advice)] == ["setting", "memory", "trust"]


def test_room_that_is_left_goes_to_the_highest_stakes_one_for_each_heading() -> None:
    advice = [
        piece("setting"),
        *(piece("barrier", heading, stake) for heading, stake in (("a", 2), ("b", 9), ("b", 8))),
    ]
    advice += [piece("message", "c", 3), piece("message", "d", 1.5), piece("trust")]
    assert [each.stake for each in headlines(advice)] == [1, 9, 3, 2, 1]


@pytest.mark.parametrize("slow", [True, False])
def test_a_large_difference_reaches_the_first_screen(slow: bool) -> None:
    host = Host(suites=("memory", "rank-barrier", "laplace"))
    if not slow:
        for row in host.rows:
            if (row["suite"], row["implementation"]) == ("rank-barrier", "mpich"):
                ours = host.find(row["metric"], **row["parameters"])
                row.update(median=ours["median"], ci95=ours["ci95"])
    told = [piece.text for piece in headlines(report.advice(host.results, host.samples))]
    assert any("MPICH's" in text for text in told) is slow


def test_alerts_stand_above_the_sentences_and_not_among_them() -> None:
    assert headlines([piece(ALERT), piece("memory")]) == [piece("memory")]


# -- what the words speak of -------------------------------------------------------------------------------------------


def figures(folder: Path, name: str) -> list[tuple[str, str, str]]:
    """The drawing, the legend and the words of each figure."""
    found = []
    for block in re.findall(r"<figure.*?</figure>", text_of(folder, name), flags=re.S):
        if '<div class="plot">' in block:
            legend, drawing = (
                re.search(rf"<{tag} class=\"{kind}\">(.*?)</{tag}>", block, flags=re.S)
                for tag, kind in (("ul", "legend"), ("div", "plot"))
            )
            assert legend and drawing
            words = block.replace(drawing[0], "").replace(legend[0], "")
            found.append((drawing[1], legend[1], unescape(re.sub(r"<[^>]+>", " ", words))))
    return found


@pytest.mark.parametrize("name", EVERY)
def test_a_legend_names_what_is_drawn_as_it_is_drawn(folder: Path, name: str) -> None:
    for drawing, legend, words in figures(folder, name):
        for entry in re.findall(r"<li>(.*?)</li>", legend, flags=re.S):
            (role, *_) = re.findall(r"var\((--[\w-]+)\)", entry)
            styles = [style for style in re.findall(r'style="([^"]*)"', drawing) if f"var({role})" in style]
            assert styles, (words, entry)
            if "stroke-dasharray" in entry:
                assert any("stroke-dasharray" in style for style in styles), (words, entry)


SIGNS = {
    r"[Dd]ashed|[Dd]otted": "stroke-dasharray",
    r"Hollow": "fill: var(--surface); stroke",
    r"shaded": "var(--crowd)",
    r"Hatched": "<pattern",
    r"(?<!platform's )\bbound\b": "var(--bound)",
}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("word", SIGNS)
def test_words_speak_of_all_that_is_drawn_and_of_nothing_else(folder: Path, name: str, word: str) -> None:
    for drawing, _, words in figures(folder, name):
        if re.search(word, words):
            assert SIGNS[word] in drawing, words
        elif word in ("Hollow", "shaded", "Hatched"):
            assert SIGNS[word] not in drawing, words


# -- code spans --------------------------------------------------------------------------------------------------------

PROSE = st.text(st.characters(exclude_characters="`", exclude_categories=("Cs", "Cc")), max_size=80)
SPAN = st.text(st.characters(exclude_characters="`", exclude_categories=("Cs", "Cc")), min_size=1, max_size=80)


@given(st.lists(st.tuples(PROSE, SPAN), max_size=5), PROSE)
def test_code_is_what_stands_between_backticks_and_nothing_else(pairs: list[tuple[str, str]], end: str) -> None:
    marked = code("".join(f"{prose}`{span}`" for prose, span in pairs) + end)
    assert [unescape(span) for span in re.findall(r"<code[^>]*>(.*?)</code>", marked, flags=re.S)] == [
        span for _, span in pairs
    ]
    rest = re.split(r"<code[^>]*>.*?</code>", marked, flags=re.S)
    assert [unescape(prose) for prose in rest] == [*(prose for prose, _ in pairs), end]


def test_prose_between_two_commands_is_prose() -> None:
    """Prose between two short commands that is longer than a long command used to make most program lines monospace."""
    marked = code("use `kumiki run -n 2`, 92 ms against 180 ms sequentially, as fast as `-n 1 -t 2` is")
    assert marked.count("<code>") == 2 and "long" not in marked
