"""The benchmarks of facets run on a few rows, and judge their claims by what they found."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import facet_worlds
import facets_few_rows
import pglib
from common.cached_regressors import r2_against, regressor_scores
from common.facet_truth import Recovery
from common.worlds import draw_world


def test_grids_are_learned_and_compared_with_the_truth(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--cases", "14_ieee:typ", "--rows", "60", "--seeds", "0", "--no-baselines"]
    assert pglib.main(options) == 0
    told = capsys.readouterr().out
    assert "14_ieee      typ     0   60    2  1.00000" in told
    assert "not judged" in told


def test_small_grids_reach_what_is_claimed() -> None:
    assert pglib.main(["--quick", "--no-baselines"]) == 0


def test_a_rounded_log_is_scored_beside_the_exact_one() -> None:
    found = pglib.score(pglib.Task("14_ieee", "typ", 0, 60, 0.01, baselines=False))
    assert found.exact > 0.999
    assert np.isfinite(found.r2)
    assert found.r2 != found.exact
    assert "unrounded" in found.line()


def fake(r2: float, seconds: float = 1.0, best: float = 0.5, rows: int = 500) -> pglib.Score:
    task = pglib.Task("14_ieee", "typ", 0, rows, 0.0, baselines=True)
    return pglib.Score(task, 2, r2, r2, seconds, Recovery(), {"trees": best})


@pytest.mark.parametrize(
    ("odd", "missed"),
    [
        ([], 0),
        ([fake(0.988)], 0),
        ([fake(0.986)], 1),
        ([fake(0.988)] * 2, 1),
        ([fake(0.992)] * 4, 1),
        ([fake(0.997)] * 10, 0),
        ([fake(0.997)] * 11, 1),
        ([fake(0.9992, best=0.99965)], 0),
        ([fake(0.9992, best=0.9998)], 1),
        ([fake(1.0, seconds=3.5)], 1),
        ([fake(1.0, seconds=61.0)], 3),
    ],
)
def test_claims_about_grids_are_judged_by_counts(odd: list[pglib.Score], missed: int) -> None:
    scores = [*odd, *[fake(0.9999)] * (33 - len(odd))]
    assert pglib.summarise(scores, whole=True, jobs=1) == missed
    assert pglib.summarise(scores, whole=False, jobs=1) == 0


@pytest.mark.parametrize(
    ("far", "least", "step", "missed"),
    [
        (3, 0.99, 0.01, 0),
        (4, 0.99, 0.01, 1),
        (1, 0.97, 0.01, 1),
        (4, 0.97, 0.01, 2),
        (4, 0.97, 1.0, 0),
    ],
)
def test_claims_about_rounded_rows_are_judged(
    far: int, least: float, step: float, missed: int
) -> None:
    near = fake(0.9999)
    task = near.task._replace(step=step)
    scores = [near._replace(task=task, r2=least, exact=0.9999)] * far
    scores += [near._replace(task=task)] * (33 - far)
    assert pglib.summarise(scores, whole=True, jobs=1) == missed
    case = pglib.Task("39_epri", "api", 0, 500, step, baselines=True)
    assert pglib.summarise([near._replace(task=case)], whole=False, jobs=1) == 0
    assert pglib.summarise([near._replace(task=case, r2=0.998)], whole=False, jobs=1) == 1


def test_scores_of_regressors_are_kept_until_the_rows_change(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    signals, decisions = random.normal(size=(40, 3)), random.normal(size=(40, 2))
    train, test = (signals[:30], decisions[:30]), (signals[30:], decisions[30:])
    scores = regressor_scores("few", train, test, tmp_path)
    assert set(scores) == {"ridge", "trees", "boosting", "network"}
    (kept,) = tmp_path.iterdir()
    kept.write_text('{"ridge": 2.0}')
    assert regressor_scores("few", train, test, tmp_path) == {"ridge": 2.0}
    assert regressor_scores("few", train, (signals[30:], decisions[30:] + 1.0), tmp_path) != scores


def test_scores_are_against_the_mean_of_the_training_rows() -> None:
    observed, predicted = np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]])
    assert r2_against(np.array([0.0]), observed, predicted) == pytest.approx(0.9)


def test_identified_facets_are_true_and_most_determined_ones_are_called_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts, invented = facet_worlds.run(worlds=4, empty=1)
    assert counts.true == counts.identified
    assert counts.called >= facet_worlds.CALLED * counts.determined > 0
    assert invented == 0
    assert "determined" in capsys.readouterr().out


def test_facets_beyond_the_bounds_of_a_world_are_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    assert facet_worlds.invented(draw_world(0, facets=False)) == 0
    world = draw_world(6)
    region = world.region
    facets = [SimpleNamespace(normal=region.a[0], limit=region.f[0])]
    monkeypatch.setattr(facet_worlds, "learn", lambda _: SimpleNamespace(facets_=facets))
    assert facet_worlds.invented(world) == 0
    without = region.with_facets(region.a[1:1], region.f[1:1])
    assert facet_worlds.invented(world._replace(region=without)) == 1


def test_paths_are_shortest_and_power5_is_learned() -> None:
    paths = facets_few_rows.shortest_paths(20, 0)
    balances, leaves = facets_few_rows.grid_balances()
    assert balances.shape == (25, 40)
    np.testing.assert_allclose(paths.arcs @ balances.T, np.tile(leaves, (20, 1)))
    np.testing.assert_array_equal(paths.arcs.sum(axis=1), 8.0)
    regret, forbidden, _ = facets_few_rows.path_regret(50, 1)
    assert regret < 0.05
    assert forbidden == 0.0
    assert facets_few_rows.power5_loss(0)[0] < 0.05
