"""A network whose nodes, plants and capacities are known, and whose lines are not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.datasets.network_parts import check_capacity
from feaslearn.exceptions import Problems
from feaslearn.messages import list_first
from feaslearn.parameters import Integer, check_value
from feaslearn.problem.forward_problem import FloatArray

Node = Hashable
Line = tuple[Node, Node]
Networks = NDArray[np.bool_]

MOST_NODES = 16
MOST_PLANTS = 8


@dataclass(frozen=True, eq=False)
class CandidateLines:
    """The lines a network may have; a network is a row of booleans, one for each of them.

    Parameters
    ----------
    nodes : tuple
        The labels of the nodes.
    lines : tuple of pairs of labels
        The candidate lines.
    ends : ndarray of shape (L, 2)
        The positions of the two nodes of each line.
    known : ndarray of bool, shape (L,)
        The lines that every network has.
    line_capacity : ndarray of shape (L,)
        The most each line carries.
    plants : ndarray of shape (K,)
        The position of the node of each plant.
    generator_capacity : ndarray of shape (K,)
        The most each plant delivers.
    """

    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    ends: NDArray[np.intp]
    known: NDArray[np.bool_]
    line_capacity: FloatArray
    plants: NDArray[np.intp]
    generator_capacity: FloatArray

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Which nodes belong to each set of nodes, shape (2^n, n)."""
        numbers = np.arange(1 << len(self.nodes))
        return np.asarray((numbers[:, None] >> np.arange(len(self.nodes))) & 1 == 1)

    @cached_property
    def crossing(self) -> NDArray[np.bool_]:
        """Which lines leave each set of nodes, shape (2^n, L)."""
        first, second = self.members[:, self.ends[:, 0]], self.members[:, self.ends[:, 1]]
        return np.asarray(first != second)

    @cached_property
    def beyond(self) -> FloatArray:
        """The capacity of each set of plants outside each set of nodes, shape (2^K, 2^n)."""
        chosen = (np.arange(1 << len(self.plants))[:, None] >> np.arange(len(self.plants))) & 1
        outside = ~self.members[:, self.plants]
        return np.ascontiguousarray((chosen * self.generator_capacity) @ outside.T)

    def cuts(self, networks: Networks) -> FloatArray:
        """Return the capacity of the lines that leave each set of nodes, for each network."""
        return np.ascontiguousarray((networks * self.line_capacity) @ self.crossing.T)

    def named(self, network: NDArray[np.bool_]) -> list[Line]:
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
    """Check the description of a network with unknown lines.

    Parameters
    ----------
    problems : Problems
        Where everything that is wrong is added.
    nodes, generators, generator_capacity, line_capacity, candidate_lines, known_lines, \
forbidden_lines
        The arguments of ``NetworkLearner``.

    Returns
    -------
    CandidateLines or None
        None if anything is wrong.
    """
    before = len(problems)
    labels = _labels(problems, nodes)
    if labels is None:
        return None
    place = {label: position for position, label in enumerate(labels)}
    plants = _plants(problems, generators, place)
    listed = list(combinations(labels, 2)) if candidate_lines is None else candidate_lines
    pairs = _pairs(problems, "candidate_lines", listed, place)
    known = _pairs(problems, "known_lines", known_lines, place)
    forbidden = _pairs(problems, "forbidden_lines", forbidden_lines, place)
    _check_consistent(problems, pairs, known, forbidden)
    lines = check_capacity(problems, "line_capacity", line_capacity, len(pairs), "candidate line")
    output = check_capacity(
        problems, "generator_capacity", generator_capacity, len(plants), "plant"
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


Pairs = dict[frozenset[int], Line]


def _labels(problems: Problems, nodes: int | Sequence[Node]) -> tuple[Node, ...] | None:
    if isinstance(nodes, Integral) or not isinstance(nodes, Iterable):
        if not check_value("nodes", nodes, Integer(1), problems):
            return None
        nodes = range(1, int(nodes) + 1)
    labels = tuple(nodes)
    repeated = sorted({str(label) for label in labels if labels.count(label) > 1})
    if repeated:
        problems.add(f"nodes names {', '.join(repeated)} more than once; give each node one label")
    if not labels:
        problems.add("nodes is empty; give the labels of the nodes, or how many there are")
    if len(labels) > MOST_NODES:
        problems.add(
            f"there are {len(labels)} nodes; cuts are enumerated, which serves up to {MOST_NODES}: "
            "merge nodes that are joined by lines without a limit"
        )
    return None if repeated or not labels or len(labels) > MOST_NODES else labels


def _plants(problems: Problems, generators: Sequence[Node], place: dict[Node, int]) -> list[int]:
    if not isinstance(generators, Iterable) or not list(generators):
        problems.add(f"generators is {generators!r}; name the node of at least one plant")
        return []
    if len(list(generators)) > MOST_PLANTS:
        problems.add(f"there are {len(list(generators))} generators, at most {MOST_PLANTS} serve")
    unknown = [node for node in generators if node not in place]
    for node in unknown:
        problems.add(f"a generator is at node {node!r}, which is not one of nodes")
    return [place[node] for node in generators if node in place]


def _pairs(problems: Problems, name: str, lines: Sequence[Line], place: dict[Node, int]) -> Pairs:
    """Return the lines by the set of the positions of their ends."""
    pairs: Pairs = {}
    if isinstance(lines, str) or not isinstance(lines, Iterable):
        problems.add(f"{name} is {lines!r}, expected pairs of nodes")
        return pairs
    for line in lines:
        try:
            first, second = line
            ends = frozenset((place[first], place[second]))
        except (TypeError, ValueError):
            problems.add(f"{name}: {line!r} is not a pair of nodes")
            continue
        except KeyError as error:
            problems.add(f"{name}: line {_told(line)} names {error.args[0]!r}, which is no node")
            continue
        if len(ends) == 1:
            problems.add(f"{name}: line {_told(line)} joins a node to itself")
        elif ends in pairs:
            problems.add(f"{name}: line {_told(line)} is listed twice; add up parallel capacities")
        else:
            pairs[ends] = (first, second)
    return pairs


def _check_consistent(problems: Problems, pairs: Pairs, known: Pairs, forbidden: Pairs) -> None:
    both = [_told(line) for ends, line in known.items() if ends in forbidden]
    if both:
        problems.add(
            f"lines both in known_lines and in forbidden_lines: {list_first(both[:5], len(both))}"
        )
    missing = [_told(line) for ends, line in known.items() if ends not in pairs]
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
    """A plant that forbidden lines alone cut off is a mistake, not a wish."""
    left = [ends for ends, is_allowed in zip(pairs, allowed, strict=True) if is_allowed]
    for plant in sorted(set(plants)):
        if any(plant in ends for ends in pairs) and not any(plant in ends for ends in left):
            problems.add(
                f"the plant at node {labels[plant]!r} is cut off: forbidden_lines holds every "
                "candidate line at it; allow one of them or drop the plant"
            )


def _told(line: Iterable[Node]) -> str:
    return "-".join(str(node) for node in line)
