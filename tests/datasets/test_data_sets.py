"""What every data set promises, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from feaslearn.data import Decisions
from feaslearn.datasets import (
    AffineRows,
    LinearProgram,
    make_flexible_plant,
    make_l1_ball,
    make_power5,
    make_switch,
)
from feaslearn.exceptions import DataError, InfeasibleProblemError

Maker = Callable[..., Decisions]
MAKERS = [make_switch, make_power5, make_l1_ball, make_flexible_plant]
every_data_set = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@every_data_set
def test_decisions_are_optimal_in_the_forward_problem(make: Maker) -> None:
    data = make(20, random_state=1)
    assert len(data) == 20
    if data.forward is None:
        return
    assert data.forward.distance_to_feasible(data.decisions, data.signals).max() < 1e-6
    np.testing.assert_allclose(
        data.forward.optimal_value(data.signals, data.cost_matrix),
        (data.cost_matrix * data.decisions).sum(axis=1),
        atol=1e-7,
    )


@every_data_set
def test_noise_changes_nothing_but_what_it_is_added_to(make: Maker) -> None:
    plain = make(500, random_state=5)
    noisy = make(500, noise=0.3, random_state=5)
    np.testing.assert_array_equal(noisy.signals, plain.signals)
    errors = noisy.decisions - plain.decisions
    assert errors.std() == pytest.approx(0.3, rel=0.2)
    assert abs(errors.mean()) < 0.06


@every_data_set
def test_random_state(make: Maker) -> None:
    def drawn(random_state: object) -> np.ndarray:
        return make(10, random_state=random_state).signals

    np.testing.assert_array_equal(drawn(3), drawn(np.int64(3)))
    assert (drawn(3) != drawn(4)).any()
    assert (drawn(None) != drawn(None)).any()
    for kind in (np.random.default_rng, np.random.RandomState):
        np.testing.assert_array_equal(drawn(kind(0)), drawn(kind(0)))
        shared = kind(0)
        assert (drawn(shared) != drawn(shared)).any()


@every_data_set
def test_bad_arguments_are_named_together(make: Maker) -> None:
    with pytest.raises(DataError) as caught:
        make(0, noise=-1.0, random_state="dice")
    for part in (make.__name__, "n_samples=0", "noise=-1.0", "'dice'"):
        assert part in str(caught.value)


def test_switch() -> None:
    data = make_switch(500, random_state=0)
    s = data.signals[:, 0]
    assert s.min() >= 0.0
    assert s.max() <= 1.0
    np.testing.assert_array_equal(data.decisions[:, 0], s <= 0.5)
    np.testing.assert_allclose(data.cost_matrix, np.column_stack([s, 1.0 - s]))


def test_power5() -> None:
    data = make_power5(3000, random_state=0)
    assert data.names.decisions == tuple(f"plant_{node}" for node in (1, 3, 5))
    assert data.names.signals[:3] == tuple(f"cost_{node}" for node in (1, 3, 5))
    np.testing.assert_array_equal(data.cost_matrix, data.signals[:, :3])
    for name, low, high in (
        ("cost_1", 0.2, 1.0),
        ("cost_3", 0.2, 0.5),
        ("cost_5", 1.0, 2.0),
        ("demand_1", 0.3, 1.5),
        ("demand_5", 0.54, 2.7),
    ):
        column = data.signals[:, data.names.signals.index(name)]
        assert low <= column.min() < low + 0.02 * (high - low), name
        assert high - 0.02 * (high - low) < column.max() <= high, name
    np.testing.assert_allclose(data.decisions.sum(axis=1), data.signals[:, 3:].sum(axis=1))


@pytest.mark.parametrize("capacity", [1.2, 1.4, np.linspace(1.2, 2.0, 5), 3.5], ids=repr)
def test_dispatch_is_the_optimum_of_the_linear_program(capacity: object) -> None:
    data = make_power5(300, random_state=0, line_capacity=capacity)
    found = data.forward.solve(data.signals, data.cost_matrix)
    np.testing.assert_allclose(found, data.decisions, atol=1e-8)


def test_power5_refuses_wrong_capacities() -> None:
    with pytest.raises(DataError) as caught:
        make_power5(-1, line_capacity=[-1.0, 1.0])
    for part in ("n_samples=-1", "line_capacity"):
        assert part in str(caught.value)
    with pytest.raises(DataError, match="cannot be served at sample"):
        make_power5(200, random_state=0, line_capacity=0.1)


def test_l1_ball() -> None:
    data = make_l1_ball(500, n=5, radius=0.5, random_state=0)
    assert data.signals.min() >= 0.0
    moved = data.decisions - 1.0
    dearest = data.signals.argmax(axis=1)
    np.testing.assert_allclose(moved[np.arange(500), dearest], -0.5)
    np.testing.assert_allclose(np.abs(moved).sum(axis=1), 0.5)
    assert len(np.unique(data.decisions, axis=0)) == 5
    both_signs = make_l1_ball(500, n=2, low=-1.0, random_state=0)
    assert both_signs.signals.min() < -0.9
    with pytest.raises(DataError) as caught:
        make_l1_ball(5, n=0, radius=0.0, low=1.0, high=1.0)
    for part in ("n=0", "radius=0.0", "low is 1.0 and high is 1.0"):
        assert part in str(caught.value)


# Linear programs: errors that name the sample.


def test_evaluate_is_constant_plus_slope_times_signal() -> None:
    rows = AffineRows([1.0, -np.inf, 0.0], [[2.0, 0.0], [0.0, 0.0], [1.0, -1.0]])
    bounds = rows.evaluate([[1.0, 2.0], [0.0, 0.5]])
    np.testing.assert_allclose(bounds, [[3.0, -np.inf, -1.0], [1.0, -np.inf, -0.5]])


@pytest.mark.parametrize(
    ("constant", "slope", "message"),
    [
        ([[1.0]], [[1.0]], r"shapes \(1, 1\) and \(1, 1\), expected \(rows,\)"),
        ([1.0, 2.0], [[1.0]], r"shapes \(2,\) and \(1, 1\), expected"),
        ([np.nan], [[1.0]], r"rows \[0\] are NaN, or infinite"),
        ([0.0, 1.0], [[1.0], [np.inf]], r"rows \[1\] are NaN, or infinite"),
        ([np.inf], [[1.0]], r"rows \[0\] are NaN, or infinite with a slope"),
    ],
)
def test_bad_rows_are_refused(constant: list[float], slope: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        AffineRows(constant, slope)


def box(n_rows: int = 1) -> LinearProgram:
    """0 <= x, x_1 + x_2 >= s (in each of the rows)."""
    low = AffineRows(np.zeros(n_rows), np.ones((n_rows, 1)))
    high = AffineRows(np.full(n_rows, np.inf), np.zeros((n_rows, 1)))
    return LinearProgram(np.ones((n_rows, 2)), low, high, [0.0, 0.0], [2.0, np.inf], 2)


def test_infeasible_samples_are_named() -> None:
    rows = AffineRows([0.0], [[1.0]])
    program = LinearProgram([[1.0]], rows, rows, [0.0], [1.0], 1)
    signals = np.array([[0.5], [2.0], [0.25], [-1.0]])
    with pytest.raises(InfeasibleProblemError, match=r"no feasible point at samples 1, 3: check"):
        program.solve(signals, np.ones((4, 1)))
    with pytest.raises(InfeasibleProblemError, match="samples 1, 3"):
        program.distance_to_feasible(np.zeros((4, 1)), signals)
    with pytest.raises(InfeasibleProblemError, match=r"samples 0, 1, 2, 3, 4 and 7 more"):
        program.solve(np.full((12, 1), 9.0), np.ones((12, 1)))


def test_distances_in_the_l1_norm() -> None:
    """``x_1 + x_2 >= s`` in the positive quadrant, x_1 at most 2; what was not observed is free."""
    points = np.array([[0.0, 0.0], [3.0, -1.0], [1.0, np.nan], [1.0, 1.0]])
    found = box().distance_to_feasible(points, np.full((4, 1), 2.0))
    np.testing.assert_allclose(found, [2.0, 2.0, 0.0, 0.0], atol=1e-9)


def test_every_problem_of_a_definition_is_named() -> None:
    rows = AffineRows([0.0, 0.0], np.zeros((2, 1)))
    with pytest.raises(DataError) as caught:
        LinearProgram(
            [[1.0, np.nan]], rows, AffineRows([0.0], np.zeros((1, 3))), [1.0, 0.0], [0.0, np.nan], 7
        )
    for part in (
        "matrix has values that are NaN",
        "row_lower has 2 rows, matrix has 1",
        "row_lower reads 1 signals, row_upper 3",
        "upper is NaN at [1]",
        "lower is above upper for variables [0]",
        "n_decisions is 7, expected 1 to 2",
    ):
        assert part in str(caught.value)


def test_bad_input_is_named_together() -> None:
    with pytest.raises(DataError) as caught:
        box().distance_to_feasible([[0.0, np.inf]], [[np.nan]])
    for part in ("signals", "row 0", "decisions"):
        assert part in str(caught.value)
    with pytest.raises(DataError, match="number of rows differs: signals 1, costs 2"):
        box().solve([[1.0]], [[1.0, 1.0], [1.0, 1.0]])
