"""Samples that cannot all be explained by one region."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Indices
from feaslearn.inference.linear_system import Elastic, LinearSystem
from feaslearn.runs.progress import ProgressBar
from feaslearn.tolerances import SOLVED_ZERO

#: Samples that are added at once, as a share of those that are there, and at least.
MORE, LEAST = 0.5, 10
#: More samples that are missed than this are not named: it is noise, not a few wrong ones.
MOST_MISSED, MOST_SHARE = 200, 0.2


class Explained(NamedTuple):
    """Whether samples can be explained, the samples that were looked at, and their optimum."""

    exactly: bool
    chosen: Indices
    optimum: Elastic


class Examined(NamedTuple):
    """Whether all samples can be explained; if not, a contradiction and the samples to blame."""

    exactly: bool
    optimum: Elastic
    core: Indices
    blamed: list[int]
    alone: bool


def examine(system: LinearSystem, until: float) -> Examined:
    """Say whether one region explains all samples, and if not, which of them stand in the way."""
    allowed = np.flatnonzero(~system.left_out)
    start = np.random.default_rng(0).permutation(allowed)[: system.n_parameters]
    exactly, chosen, optimum = explain(system, allowed, start)
    if exactly:
        return Examined(True, optimum, chosen[:0], [], True)
    core = irreducible(system, chosen, optimum)
    blamed = _single(system, allowed, core, until)
    if blamed:
        return Examined(False, optimum, core, blamed, True)
    return Examined(False, optimum, core, _several(system, allowed, core, until), False)


def explain(system: LinearSystem, allowed: Indices, start: Indices) -> Explained:
    """Say whether one region explains all allowed samples.

    A few samples are solved for; those that the answer misses most are added, until none is
    missed or those at hand contradict each other.
    """
    chosen = start
    while True:
        found = system.solve(chosen)
        if found.missed.max(initial=0.0) > SOLVED_ZERO:
            return Explained(False, chosen, found)
        fresh = _missed(system, found, allowed, chosen)
        if not len(fresh):
            return Explained(True, chosen, found)
        chosen = np.concatenate([chosen, fresh])


def irreducible(system: LinearSystem, chosen: Indices, optimum: Elastic) -> Indices:
    """Return samples of which all are needed for the contradiction.

    By duality those without a multiplier are not; each other is left out in turn.
    """
    forced = chosen[optimum.forced]
    if len(forced) and not _explains(system, forced):
        chosen = forced
    kept = list(chosen)
    for sample in chosen:
        others = np.array([other for other in kept if other != sample], dtype=np.intp)
        if len(others) and not _explains(system, others):
            kept.remove(sample)
    return np.sort(np.array(kept, dtype=np.intp))


def _single(system: LinearSystem, allowed: Indices, core: Indices, until: float) -> list[int]:
    """Return the samples without any one of which one region explains all others.

    A single wrong sample is in every contradiction, so those of one contradiction are tried.
    """
    found = []
    with ProgressBar("consistency: samples to blame", len(core)) as bar:
        for done, sample in enumerate(core):
            if time.monotonic() > until:
                return []
            others = allowed[allowed != sample]
            start = np.union1d(core[core != sample], others[: system.n_parameters])
            if len(others) and explain(system, others, start).exactly:
                found.append(int(sample))
            bar.update(done + 1)
    return found


def _several(system: LinearSystem, allowed: Indices, core: Indices, until: float) -> list[int]:
    """Return samples that the region of least total error misses, if they are few.

    Where one region misses them only, it explains all others.
    """
    chosen = np.union1d(core, allowed[: 2 * system.n_parameters])
    most = min(MOST_MISSED, max(2, int(MOST_SHARE * len(allowed))))
    while time.monotonic() < until:
        found = system.solve(chosen)
        missed = chosen[found.missed > SOLVED_ZERO]
        if len(missed) > most:
            return []
        fresh = _missed(system, found, allowed, chosen)
        if not len(fresh):
            return sorted(int(sample) for sample in missed)
        chosen = np.concatenate([chosen, fresh])
    return []


def shrink(
    rows: Indices, contradict: Callable[[Indices], bool], until: float
) -> tuple[Indices, bool]:
    """Leave out halves, quarters and at last single samples while the others still contradict.

    Parameters
    ----------
    rows : ndarray of int
        Samples that contradict each other.
    contradict : callable
        Says whether samples were proved to contradict each other.
    until : float
        When to stop, by `time.monotonic`.

    Returns
    -------
    rows : ndarray of int
        Those that are left.
    done : bool
        Whether each of them is needed.
    """
    size = max(1, len(rows) // 2)
    while True:
        start = 0
        while start < len(rows) and len(rows) > 1:
            if time.monotonic() > until:
                return rows, False
            others = np.delete(rows, np.arange(start, min(start + size, len(rows))))
            if len(others) and contradict(others):
                rows = others
            else:
                start += size
        if size == 1:
            return rows, True
        size = max(1, min(size // 2, len(rows) // 2))


def _explains(system: LinearSystem, chosen: Indices) -> bool:
    return bool(system.solve(chosen).missed.max(initial=0.0) <= SOLVED_ZERO)


def _missed(system: LinearSystem, found: Elastic, allowed: Indices, chosen: Indices) -> Indices:
    """Return the samples that an answer misses most, of those that it did not know."""
    missed = system.missed(found)
    unknown = np.setdiff1d(allowed, chosen)
    wrong = unknown[missed[unknown] > SOLVED_ZERO]
    count = max(LEAST, int(MORE * len(chosen)))
    return np.asarray(wrong[np.argsort(-missed[wrong], kind="stable")[:count]])
