"""Tables from files: what is wrong is said with its place."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feaslearn.exceptions import DataError, FeaslearnError, FileError, Problems
from feaslearn.io.tables import Table, read_csv, read_table, write_table


def numbers(table: Table, *names: str, allow_missing: bool = False) -> np.ndarray:
    problems = Problems()
    columns = table.find(names or ["*"], "columns", problems)
    frame = table.frame(columns, problems, allow_missing=allow_missing)
    problems.raise_if_any(DataError, "test")
    return frame.to_numpy()


@pytest.mark.parametrize(
    "text",
    [
        b"a,b\n1,2\n3,4\n",
        b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4",
        b"a;b\n1;2\n3;4\n",
        b' a , "b"\n 1 ,"2"\n3,4\n\n   \n',
        b"a,b\r1,2\r3,4\r",
        b"a,b\n+1,2e0\n3.0,4.\n",
    ],
)
def test_ways_to_write_a_table(text: bytes) -> None:
    assert numbers(read_csv(text, "t.csv")).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_other_letters_and_marks() -> None:
    assert read_csv("größe\n1\n".encode("latin-1"), "t", encoding="latin-1").names == ("größe",)
    assert read_csv("a,b\n1,2\n".encode("utf-16"), "t", encoding="utf-16").names == ("a", "b")
    assert read_csv(b"a:b\n1:2\n", "t", delimiter=":").names == ("a", "b")
    for name in ("utf-8", "UTF-8", "utf8", "U8", "utf_8_sig"):
        assert read_csv(b"\xef\xbb\xbfa,b\n1,2\n", "t", encoding=name).names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "t.csv: the file is empty"),
        (b"a,b\n", "a header and no row"),
        (
            b"a,b\n1,2\n3\n4,5\n6,7,8\n",
            "header has 2 cells, line 3 has 1 cells; line 5 has 3 cells",
        ),
        (b"1,2\n3,4\n", "the first line holds numbers; it must name the columns"),
        (b"a,,c\n1,2,3\n", "column 2 has no name"),
        (b"gr\xf6\xdfe\n1\n", "not utf-8 text at byte 2; name its encoding, such as latin-1"),
        (b"\xff\xfea\x00\n\x00", "such as utf-16"),
        (b'a,b\n"1,2\n', "line 2: unexpected end of data"),
    ],
)
def test_files_that_are_no_tables(text: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        numbers(read_csv(text, "t.csv"))


def test_encodings_and_marks_that_are_none() -> None:
    with pytest.raises(DataError, match="encoding: 'klingon'"):
        read_csv(b"a\n1\n", "t", encoding="klingon")
    with pytest.raises(DataError, match="encoding: 'base64'"):
        read_csv(b"a\n1\n", "t", encoding="base64")
    with pytest.raises(DataError, match="utf-16"):
        read_csv("a\n1\n".encode("utf-16"), "t", encoding="UTF8")
    with pytest.raises(DataError, match="t: not unicode_escape text"):
        read_csv(rb"a\ud800,b" + b"\n1,2\n", "t", encoding="unicode_escape")
    with pytest.raises(DataError, match="delimiter: 'ab' is not one character"):
        read_csv(b"a\n1\n", "t", delimiter="ab")


def test_cells_that_are_no_numbers_are_named() -> None:
    text = b'day,demand,power\nMon,1,2\nTue,x,\nWed,"3,5",inf\nThu,1_000,nan\n'
    table = read_csv(text, "t.csv")
    with pytest.raises(DataError) as caught:
        numbers(table, "demand", "power")
    assert str(caught.value) == (
        "test: t.csv: 6 values are not numeric: line 3, column 'demand' is the text 'x'; line 3, "
        "column 'power' is empty; line 4, column 'demand' is the text '3,5'; decimals are written "
        "with a point; line 4, column 'power' is inf; line 5, column 'demand' is the text '1_000'; "
        "and 1 more"
    )


def test_cells_may_be_empty_where_that_has_a_meaning() -> None:
    table = read_csv(b'a\n1\n""\nNA\nNaN\nnull\n 2 \n', "t.csv")
    found = numbers(table, allow_missing=True).ravel()
    assert np.isnan(found).tolist() == [False, True, True, True, True, False]


def test_columns_that_are_not_there_or_twice() -> None:
    table = read_csv(b"price_a,demand,price_b,demand\n1,2,3,4\n", "t.csv")
    for wanted, message in [
        (["pric_a"], "column 'pric_a' is not in t.csv; did you mean 'price_a'?"),
        (["demand"], "2 columns in t.csv are called 'demand'; rename them"),
        (["dem*"], "several columns in t.csv are called 'demand'; rename them"),
        (["wind_*"], "column 'wind_[*]' is not in t.csv"),
    ]:
        problems = Problems()
        table.find(wanted, "signals", problems)
        assert len(problems) == 1
        with pytest.raises(DataError, match=message.replace("?", "[?]")):
            problems.raise_if_any(DataError, "test")
    problems = Problems()
    assert table.find(["price_b", "price_*"], "signals", problems) == (2, 0)
    assert not len(problems)


# Parquet


def parquet(folder: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def test_parquet_holds_numbers_of_all_kinds(tmp_path: Path) -> None:
    from datetime import date
    from decimal import Decimal

    path = parquet(
        tmp_path,
        a=[1.5, None],
        b=pa.array([1, 2], pa.int8()),
        c=[True, False],
        d=[Decimal("1.25"), Decimal("2.50")],
        e=["3", "four"],
        f=[date(2020, 1, 1), None],
    )
    table = read_table(path)
    found = numbers(table, "a", "b", "c", "d", allow_missing=True)
    assert found[0].tolist() == [1.5, 1.0, 1.0, 1.25]
    assert np.isnan(found[1, 0])
    with pytest.raises(
        DataError, match="row 2, column 'a' is empty; row 2, column 'e' is the text"
    ):
        numbers(table, "a", "e")
    with pytest.raises(DataError, match="row 1, column 'f' is the text '2020-01-01'"):
        numbers(table, "f", allow_missing=True)


def test_parquet_that_is_damaged_or_empty(tmp_path: Path) -> None:
    path = parquet(tmp_path, a=[1.0, 2.0])
    whole = path.read_bytes()
    for contents in (b"a,b\n1,2\n", b"", whole[:30], whole[:-8] + b"xxxxPAR1", b"PAR1" * 9):
        path.write_bytes(contents)
        with pytest.raises(FeaslearnError, match=r"t\.parquet"):
            read_table(path)
    with pytest.raises(DataError, match="no rows"):
        read_table(parquet(tmp_path, a=pa.array([], pa.float64())))


def test_a_file_that_is_larger_than_the_limit(tmp_path: Path) -> None:
    path = parquet(tmp_path, a=np.zeros(10**6))
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError, match="claims 1000000 values; the limit is 100000"):
        read_table(path, max_bytes=100_000)
    path.write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    with pytest.raises(FileError, match="the limit is 100; raise max_bytes"):
        read_table(path, max_bytes=100)


# Writing

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=FLOATS, suffix=st.sampled_from([".csv", ".parquet"]))
def test_numbers_are_read_as_they_were_written(
    values: list[float], suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(path, ['a "quoted", name', "b"], [values, values])
    found = numbers(read_table(path))
    for column in found.T:
        assert struct.pack(f"{len(values)}d", *column) == struct.pack(f"{len(values)}d", *values)
