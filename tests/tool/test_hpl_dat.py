"""HPL.dat line by line: what is read, what is refused, what is written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hpls_own import HPLS_OWN
from hypothesis import given
from hypothesis import strategies as st
from kumiki.errors import UserError
from kumiki.linpack import hpl_dat
from kumiki.linpack.hpl_dat import HplDat


def read(tmp_path: Path, text: str) -> HplDat:
    file = tmp_path / "HPL.dat"
    file.write_bytes(text.encode())
    return hpl_dat.read(file)


def test_the_file_that_comes_with_hpl(tmp_path: Path) -> None:
    file = read(tmp_path, HPLS_OWN)
    assert file.sizes == (29, 30, 34, 35) and file.blocks == (1, 2, 3, 4)
    assert file.grids == ((2, 2), (1, 4), (4, 1)) and file.ranks == 4
    assert (file.pfact, file.nbmin, file.ndiv, file.rfact) == ((0, 1, 2), (2, 4), (2,), (0, 1, 2))
    assert file.threshold == 16 and not file.by_columns
    assert any("DEPTHs" in remark for remark in file.remarks)
    assert file.arguments()[:6] == ["-N", "29,30,34,35", "--block", "1,2,3,4", "--grid", "2x2,1x4,4x1"]


def test_windows_line_ends_and_the_further_lines_of_hpcc(tmp_path: Path) -> None:
    text = HPLS_OWN + "##### This line (no. 32) is ignored (it serves as a separator). ######\n0 Number of additional\n"
    assert read(tmp_path, text.replace("\n", "\r\n")) == read(tmp_path, HPLS_OWN)


CORRUPT = {
    5: ("many", "the number of Ns: 'many' is not a whole number of 1 to 20"),
    6: ("29 30 34 Ns", "Ns: 'Ns' is not a whole number of at least 0"),
    7: ("21", "the number of NBs: '21' is not a whole number of 1 to 20"),
    8: ("1 2 0 4", "NBs: '0' is not a whole number of at least 1"),
    9: ("2", "PMAP: '2' is not a whole number of 0 to 1"),
    10: ("", "1 values of the number of process grids are announced, but there are only 0"),
    11: ("2 -1 4", "Ps: '-1' is not a whole number of at least 1"),
    12: ("2 4", "3 values of Qs are announced, but there are only 2"),
    13: ("high", "the threshold: 'high' is not a number"),
    14: ("0", "the number of PFACTs: '0' is not a whole number of 1 to 20"),
    15: ("0 1 3", "PFACTs: '3' is not a whole number of 0 to 2"),
    16: ("x", "the number of NBMINs: 'x'"),
    17: ("2 0", "NBMINs: '0' is not a whole number of at least 1"),
    18: ("-", "the number of NDIVs: '-'"),
    19: ("1", "NDIVs: '1' is not a whole number of at least 2"),
    20: ("+3", "the number of RFACTs: '+3'"),
    21: ("0 1 two", "RFACTs: 'two' is not a whole number of 0 to 2"),
    22: ("one", "the number of BCASTs: 'one'"),
    23: ("6", "BCASTs: '6' is not a whole number of 0 to 5"),
    24: ("1.5", "the number of DEPTHs: '1.5'"),
    25: ("-1", "DEPTHs: '-1' is not a whole number of at least 0"),
    26: ("3", "SWAP: '3' is not a whole number of 0 to 2"),
    27: ("9" * 5000, "the swapping threshold: '999999999999999999...' is too long for a number"),
}


@pytest.mark.parametrize(
    ("number", "line", "sentence"),
    [*((number, *wrong) for number, wrong in CORRUPT.items()), (13, "nan", "the threshold: 'nan' is not a number")],
)
def test_a_corrupt_line_is_named(tmp_path: Path, number: int, line: str, sentence: str) -> None:
    lines = HPLS_OWN.splitlines()
    lines[number - 1] = line
    with pytest.raises(UserError, match=re.escape(f"HPL.dat, line {number}: {sentence}")):
        read(tmp_path, "\n".join(lines))


def test_what_has_no_meaning_here_may_be_anything_for_which_hpl_has_a_default(tmp_path: Path) -> None:
    lines = HPLS_OWN.splitlines()
    lines[27:] = ["2", "-1", "maybe", "0"]
    assert read(tmp_path, "\n".join(lines)) == read(tmp_path, HPLS_OWN)


@pytest.mark.parametrize("inside", ["\f", "\x85", "\u2028", "\v"])
def test_lines_end_only_where_hpls_do(tmp_path: Path, inside: str) -> None:
    assert read(tmp_path, HPLS_OWN.replace("Innovative ", f"Innovative{inside}")) == read(tmp_path, HPLS_OWN)


@pytest.mark.parametrize("kept", range(31))
def test_a_file_that_ends_early_says_where(tmp_path: Path, kept: int) -> None:
    with pytest.raises(UserError, match=rf"HPL.dat, line {kept + 1}: the file ends here, before "):
        read(tmp_path, "\n".join(HPLS_OWN.splitlines()[:kept]))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        hpl_dat.read(tmp_path / "none")


numbers = st.lists(st.integers(1, 9), min_size=1, max_size=5).map(tuple)
lookings = st.lists(st.integers(0, 2), min_size=1, max_size=3).map(tuple)


@given(
    st.builds(
        HplDat,
        sizes=numbers,
        blocks=numbers,
        grids=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4).map(tuple),
        by_columns=st.booleans(),
        threshold=st.sampled_from([16.0, 0.0, 1e-3]),
        pfact=lookings,
        nbmin=numbers,
        ndiv=st.lists(st.integers(2, 9), min_size=1, max_size=3).map(tuple),
        rfact=lookings,
        broadcasts=st.lists(st.integers(0, 5), min_size=1, max_size=6).map(tuple),
        swap=st.integers(0, 2),
        swap_threshold=st.integers(0, 300),
    )
)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, file: HplDat) -> None:
    path = tmp_path_factory.getbasetemp() / "written.dat"
    hpl_dat.write(path, file)
    again = hpl_dat.read(path)
    assert replace(again, remarks=()) == file
    assert not any("DEPTHs" in remark for remark in again.remarks)


def test_weights_are_on_a_line_that_hpl_does_not_read(tmp_path: Path) -> None:
    file = HplDat((100,), (8,), ((1, 2), (3, 2)), weights="2,1.5")
    text = hpl_dat.text_of(file)
    assert text.startswith(hpl_dat.text_of(replace(file, weights=None)))
    assert text.count("\n") == 32 and "2,1.5        weights" in text.splitlines()[31]
    assert replace(read(tmp_path, text), remarks=()) == file
    assert file.arguments()[-2:] == ["--weights", "2,1.5"]
    assert read(tmp_path, text.replace("2,1.5", "measured")).weights == "measured"


@pytest.mark.parametrize(("weights", "shares"), [("2, 1", "2,1"), (" .5 ,1.", "0.5,1"), ("+1e1,0.1", "10,0.1")])
def test_weights_may_have_blanks_and_any_form_of_numbers(tmp_path: Path, weights: str, shares: str) -> None:
    text = hpl_dat.text_of(HplDat((100,), (8,), ((1, 2),), weights=weights))
    assert read(tmp_path, text).weights == shares


def test_other_lines_behind_hpls_are_no_weights(tmp_path: Path) -> None:
    assert read(tmp_path, HPLS_OWN + "a remark about weights\n").weights is None


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("2,fast", "weights: 'fast' is no share; give numbers such as 2,1, or 'measured'"),
        ("2,-1", "weights: '-1' is no share"),
        ("2,", "weights: '' is no share"),
        ("2,1,1", "weights: there are 3, but a grid of 2 x 2 has 2 process columns"),
        ("0,0.0", "weights: all are 0"),
    ],
)
def test_corrupt_weights_are_named(tmp_path: Path, weights: str, sentence: str) -> None:
    text = hpl_dat.text_of(HplDat((100,), (8,), ((2, 2),), weights="2,1"))
    with pytest.raises(UserError, match=re.escape(f"HPL.dat, line 32: {sentence}")):
        read(tmp_path, text.replace("2,1 ", weights + " "))
