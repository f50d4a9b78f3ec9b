"""Candidate lines of a network whose nodes, plants and capacities are known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.datasets._arguments import check_capacity
from feaslearn.exceptions import Problems
from feaslearn.messages import list_first
from feaslearn.parameters import Integer, check_value

Node = Hashable
Line = tuple[Node, Node]
Networks = Mask
Pairs = dict[frozenset[int], Line]

MAX_NODES = 16
MAX_PLANTS = 8


@dataclass(frozen=True, eq=False)
class CandidateLines:
    """The lines a network may have; a network is a row of booleans, one for each of them.

    ``ends`` and ``plants`` are indices of nodes; every network has the ``known`` lines.
    """

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    ends: Indices
    known: Mask
    line_capacity: Array
    plants: Indices
    generator_capacity: Array

    @cached_property
    def members(self) -> Mask:
        """Which nodes belong to each set of nodes, shape (2^n, n)."""
        numbers = np.arange(1 << len(self.nodes))
        return np.asarray((numbers[:, None] >> np.arange(len(self.nodes))) & 1 == 1)

    @cached_property
    def crossing(self) -> Mask:
        """Which lines leave each set of nodes, shape (2^n, L)."""
        first, second = self.members[:, self.ends[:, 0]], self.members[:, self.ends[:, 1]]
        return np.asarray(first != second)

    @cached_property
    def outside_capacity(self) -> Array:
        """The capacity of each set of plants outside each set of nodes, shape (2^K, 2^n)."""
        chosen = (np.arange(1 << len(self.plants))[:, None] >> np.arange(len(self.plants))) & 1
        outside = ~self.members[:, self.plants]
        return np.ascontiguousarray((chosen * self.generator_capacity) @ outside.T)

    def cuts(self, networks: Networks) -> Array:
        """Return the capacity of the lines that leave each set of nodes, for each network."""
        return np.ascontiguousarray((networks * self.line_capacity) @ self.crossing.T)

    def surplus(self, demands: Array, decisions: Array) -> Array:
        """Return what the plants of each node deliver above its demand, shape (N, n)."""
        surplus = -demands
        for plant, node in enumerate(self.plants):
            surplus[:, node] += decisions[:, plant]
        return surplus

    def named(self, network: Mask) -> list[Line]:
        """Return the lines of a network."""
        return [self.lines[line] for line in np.flatnonzero(network)]


def read_candidates(
    problems: Problems,
    nodes: int | Sequence[Node],
    generators: Sequence[Node],
    generator_capacity: ArrayLike,
    line_capacity: ArrayLike,
    candidate_lines: Sequence[Line] | None,
    known_lines: Sequence[Line],
    forbidden_lines: Sequence[Line],
) -> CandidateLines | None:
    """Read the arguments of a learner; None if a problem was added."""
    before = len(problems)
    labels = _labels(problems, nodes)
    if len(problems) > before:
        return None
    index = {label: position for position, label in enumerate(labels)}
    plants = _plants(problems, generators, index)
    offered = list(combinations(labels, 2)) if candidate_lines is None else candidate_lines
    pairs = _pairs(problems, "candidate_lines", offered, index)
    known = _pairs(problems, "known_lines", known_lines, index)
    forbidden = _pairs(problems, "forbidden_lines", forbidden_lines, index)
    _check_consistent(problems, pairs, known, forbidden)
    lines = check_capacity("line_capacity", line_capacity, len(pairs), "candidate line", problems)
    output = check_capacity(
        "generator_capacity", generator_capacity, len(plants), "plant", problems
    )
    allowed = [pair not in forbidden for pair in pairs]
    _check_plants_reached(problems, plants, pairs, allowed, labels)
    if len(problems) > before:
        return None
    kept = [pair for pair, is_allowed in zip(pairs, allowed, strict=True) if is_allowed]
    return CandidateLines(
        labels,
        tuple(pairs[pair] for pair in kept),
        np.array([sorted(pair) for pair in kept], dtype=np.intp).reshape(-1, 2),
        np.array([pair in known for pair in kept], dtype=bool),
        lines[np.array(allowed, dtype=bool)],
        np.array(plants, dtype=np.intp),
        output,
    )


def _labels(problems: Problems, nodes: int | Sequence[Node]) -> tuple[Node, ...]:
    """Return the labels of the nodes."""
    if isinstance(nodes, Integral) or not isinstance(nodes, Iterable):
        if not check_value("nodes", nodes, Integer(1), problems):
            return ()
        nodes = range(1, int(nodes) + 1)
    labels = tuple(nodes)
    repeated = sorted({str(label) for label in labels if labels.count(label) > 1})
    if repeated:
        problems.add(f"nodes names {', '.join(repeated)} more than once; give each node one label")
    if not labels:
        problems.add("nodes is empty; give the labels of the nodes, or how many there are")
    if len(labels) > MAX_NODES:
        problems.add(
            f"there are {len(labels)} nodes; cuts are enumerated, which serves up to {MAX_NODES}: "
            "merge nodes that are joined by lines without a limit"
        )
    return labels


def _plants(problems: Problems, generators: Sequence[Node], index: dict[Node, int]) -> list[int]:
    """Return the index of the node of each plant."""
    plants = list(generators) if isinstance(generators, Iterable) else []
    if not plants:
        problems.add(f"generators is {generators!r}; name the node of at least one plant")
    if len(plants) > MAX_PLANTS:
        problems.add(f"there are {len(plants)} generators, at most {MAX_PLANTS} serve")
    for node in plants:
        if node not in index:
            problems.add(f"a generator is at node {node!r}, which is not one of nodes")
    return [index[node] for node in plants if node in index]


def _pairs(problems: Problems, name: str, lines: Sequence[Line], index: dict[Node, int]) -> Pairs:
    """Return the lines by the set of the positions of their ends."""
    pairs: Pairs = {}
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        problems.add(f"{name} is {lines!r}, expected pairs of nodes")
        return pairs
    for line in lines:
        try:
            first, second = line
            ends = frozenset((index[first], index[second]))
        except (TypeError, ValueError):
            problems.add(f"{name}: {line!r} is not a pair of nodes")
            continue
        except KeyError as error:
            problems.add(
                f"{name}: line {line_name(line)} names {error.args[0]!r}, which is not a node"
            )
            continue
        if len(ends) == 1:
            problems.add(f"{name}: line {line_name(line)} joins a node to itself")
        elif ends in pairs:
            problems.add(
                f"{name}: line {line_name(line)} is listed twice; add up parallel capacities"
            )
        else:
            pairs[ends] = (first, second)
    return pairs


def _check_consistent(problems: Problems, pairs: Pairs, known: Pairs, forbidden: Pairs) -> None:
    """Add a problem for known lines that are forbidden or no candidates."""
    both = [line_name(line) for ends, line in known.items() if ends in forbidden]
    if both:
        problems.add(
            f"lines both in known_lines and in forbidden_lines: {list_first(both[:5], len(both))}"
        )
    missing = [line_name(line) for ends, line in known.items() if ends not in pairs]
    if missing:
        problems.add(
            f"known_lines that are not among candidate_lines: "
            f"{list_first(missing[:5], len(missing))}; add them there"
        )


def _check_plants_reached(
    problems: Problems,
    plants: list[int],
    pairs: Pairs,
    allowed: list[bool],
    labels: tuple[Node, ...],
) -> None:
    """Add a problem for each plant that forbidden lines alone cut off."""
    left = [ends for ends, is_allowed in zip(pairs, allowed, strict=True) if is_allowed]
    for plant in sorted(set(plants)):
        if any(plant in ends for ends in pairs) and not any(plant in ends for ends in left):
            problems.add(
                f"the plant at node {labels[plant]!r} is cut off: forbidden_lines holds every "
                "candidate line at it; allow one of them or drop the plant"
            )


def line_name(line: Iterable[Node]) -> str:
    """Return a line as its nodes joined by a hyphen."""
    return "-".join(str(node) for node in line)
