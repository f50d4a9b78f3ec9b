"""The parts of a network, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import Problems
from feaslearn.parameters import Integer, check_value
from feaslearn.problem.forward_problem import FloatArray


class NetworkParts(NamedTuple):
    """Lines and plants by the numbers of their nodes, and the capacity of each of them."""

    lines: tuple[tuple[int, int], ...]
    plants: tuple[int, ...]
    line_capacity: FloatArray
    generator_capacity: FloatArray


def check_network(
    problems: Problems,
    n_nodes: int,
    lines: Sequence[tuple[int, int]],
    line_capacity: ArrayLike,
    plants: Sequence[int],
    generator_capacity: ArrayLike,
) -> NetworkParts:
    """Return the parts of a network, or add everything that is wrong with them.

    Parameters
    ----------
    problems : Problems
        Where to say what is wrong.
    n_nodes, lines, line_capacity, plants, generator_capacity
        The arguments of ``TransportNetwork``.

    Returns
    -------
    NetworkParts
        The parts; not to be used if a problem was added.
    """
    if not check_value("n_nodes", n_nodes, Integer(1), problems):
        return NetworkParts((), (), np.empty(0), np.empty(0))
    pairs = _check_lines(problems, lines, n_nodes)
    nodes = _check_plants(problems, plants, n_nodes)
    return NetworkParts(
        pairs,
        nodes,
        check_capacity(problems, "line_capacity", line_capacity, len(pairs), "line"),
        check_capacity(problems, "generator_capacity", generator_capacity, len(nodes), "plant"),
    )


def _check_lines(
    problems: Problems, lines: Sequence[tuple[int, int]], n_nodes: int
) -> tuple[tuple[int, int], ...]:
    checked = []
    if not isinstance(lines, Iterable):
        problems.add(f"lines is {lines!r}, expected pairs of node numbers")
        return ()
    for line in lines:
        try:
            first, second = (index(node) for node in line)
        except (TypeError, ValueError):
            problems.add(f"line {line!r} is not a pair of node numbers")
            continue
        outside = [node for node in (first, second) if not 1 <= node <= n_nodes]
        if outside:
            problems.add(f"line {first}-{second} names node {outside[0]}; nodes are 1 to {n_nodes}")
        elif first == second:
            problems.add(f"line {first}-{second} joins a node to itself")
        checked.append((first, second))
    return tuple(checked)


def _check_plants(problems: Problems, plants: Sequence[int], n_nodes: int) -> tuple[int, ...]:
    if not len(plants):
        problems.add("plants is empty; name the node of at least one plant")
    for node in plants:
        if not 1 <= node <= n_nodes:
            problems.add(f"a plant is at node {node}; nodes are 1 to {n_nodes}")
    return tuple(int(node) for node in plants)


def check_capacity(
    problems: Problems, name: str, capacity: ArrayLike, count: int, what: str
) -> FloatArray:
    """Return one capacity for each line or plant, or add what is wrong with them.

    Parameters
    ----------
    problems : Problems
        Where to say what is wrong.
    name : str
        The argument's name.
    capacity : array_like
        One number, or one for each.
    count : int
        How many there must be.
    what : str
        What has the capacity.

    Returns
    -------
    ndarray of shape (count,)
        The capacities; zeros where they cannot be used.
    """
    try:
        values = np.asarray(capacity, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"{name} is {capacity!r}, expected one number, or one for each {what}")
        return np.zeros(count)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        problems.add(
            f"{name} has shape {values.shape}, expected one number, or {count}: one for each {what}"
        )
        return np.zeros(count)
    if not (np.isfinite(values) & (values >= 0)).all():
        problems.add(f"{name} is {values.tolist()}, expected finite numbers of at least 0")
    return np.broadcast_to(values, (count,)).copy()
