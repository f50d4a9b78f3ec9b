"""Minkowski blends of learned regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.region.form import RegionForm
from feaslearn.region.minimize import Solved
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import Ties
from feaslearn.sets.product import Product
from feaslearn.tolerances import VISIBLE_TOL


@dataclass(eq=False, repr=False)
class Blend(Hypothesis):
    r"""Weighted Minkowski sums of regions, each learned on its own.

    .. math:: R(s) = \oplus_t \; \alpha_t R_t(s), \qquad \alpha \ge 0, \; \sum_t \alpha_t = 1

    A linear cost is minimised member by member, so the prediction is the weighted mean of the
    members' predictions, and it is optimal in a region. With weights that sum to one, equalities
    that all members share hold in the blend.

    Parameters
    ----------
    hypotheses : sequence of Hypothesis
        The members; the same one several times is trained on several random splits.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> blend = fl.Blend([fl.Facets(), fl.Affine(fl.Simplex(1))])
    >>> model = fl.RegionRegressor(blend, cost=data.cost, random_state=0)
    >>> model.fit(data.signals, data.decisions).parameters_["weights"].round(3) + 0.0
    array([1., 0.])
    """

    hypotheses: Sequence[Hypothesis]

    def members(self) -> list[Hypothesis]:
        """Return the members; refuse what is not a hypothesis."""
        members = list(self.hypotheses)
        if not members or not all(isinstance(member, Hypothesis) for member in members):
            raise UnsupportedError(f"Blend needs at least one hypothesis; got {self.hypotheses!r}")
        return members

    def check(self, n: int) -> None:
        """Check every member."""
        for member in self.members():
            member.check(n)

    def layout(self, n: int, k: int) -> Layout:
        """Return block "weights" and one block for each member's theta."""
        members = self.members()
        shapes: dict[str, tuple[int, ...]] = {"weights": (len(members),)}
        for t, member in enumerate(members):
            shapes[f"member_{t}"] = (member.layout(n, k).size,)
        return Layout(shapes)

    def parts(self, theta: Array, n: int, k: int) -> list[tuple[float, Hypothesis, Array]]:
        """Return weight, hypothesis and parameters of the members that count."""
        blocks = self.layout(n, k).unpack(theta)
        weights = blocks["weights"]
        if not (weights > 0.0).any():
            raise DataError("Blend: no member has a positive weight, so there is no region")
        return [
            (float(weights[t]), member, blocks[f"member_{t}"])
            for t, member in enumerate(self.members())
            if weights[t] > 0.0
        ]

    def describe(self, theta: Array, n: int, k: int) -> RegionForm:
        """Return the members' rows side by side, and the weighted sum of their decisions."""
        parts = self.parts(theta, n, k)
        total = sum(weight for weight, _, _ in parts)
        forms = [member.describe(part, n, k) for _, member, part in parts]
        return RegionForm.blend([weight / total for weight, _, _ in parts], forms)

    def solve(self, theta: Array, features: Array, costs: Array, ties: Ties = "first") -> Solved:
        """Return the weighted mean of the members' decisions.

        Where a member's region is empty, so is the sum; the others then share its weight.
        """
        parts = self.parts(theta, costs.shape[1], features.shape[1])
        answers = [member.solve(part, features, costs, ties) for _, member, part in parts]
        return self._mean([weight for weight, _, _ in parts], answers)

    def solve_tied(self, theta: Array, features: Array, costs: Array) -> tuple[Solved, Mask]:
        """Return what `solve` and `tied` do, each member being asked once."""
        parts = self.parts(theta, costs.shape[1], features.shape[1])
        pairs = [member.solve_tied(part, features, costs) for _, member, part in parts]
        answers, ties = zip(*pairs, strict=True)
        solved = self._mean([weight for weight, _, _ in parts], answers)
        return solved, np.asarray(np.any(ties, axis=0))

    def solve_parts(
        self, theta: Array, features: Array, costs: Array
    ) -> tuple[Solved, list[Solved]]:
        """Return what `solve` does, and what each member that counts does."""
        parts = self.parts(theta, costs.shape[1], features.shape[1])
        answers = [member.solve_duals(part, features, costs) for _, member, part in parts]
        solved = self._mean([weight for weight, _, _ in parts], answers)
        tied = np.any([answer.tied_or_all() for answer in answers], axis=0)
        return solved._replace(tied=tied & ~solved.empty), answers

    @staticmethod
    def _mean(member_weights: Sequence[float], answers: Sequence[Solved]) -> Solved:
        """Return the weighted mean of the members' decisions."""
        empty = np.array([answer.empty for answer in answers])
        weights = np.array(member_weights)[:, None] * np.where(empty.all(axis=0), True, ~empty)
        weights = weights / weights.sum(axis=0)
        decisions = np.zeros(answers[0].decisions.shape)
        for share, answer in zip(weights, answers, strict=True):
            decisions += share[:, None] * answer.decisions
        return Solved(decisions, np.asarray(empty.any(axis=0)))

    def tied(self, theta: Array, features: Array, costs: Array) -> Mask:
        """Say for each row whether it ties in any member."""
        return self.solve_tied(theta, features, costs)[1]

    def image(self, theta: Array, phi: Array, n: int) -> AffineImage:
        """Return the Minkowski sum of the members' regions at one row of features.

        Members whose region is empty there leave their weight to the others, as in `solve`.
        """
        parts = self.parts(theta, n, len(phi))
        no_cost = np.zeros((1, n))
        empty = [member.solve(part, phi[None], no_cost).empty[0] for _, member, part in parts]
        if not all(empty):
            parts = [each for each, none in zip(parts, empty, strict=True) if not none]
        total = sum(weight for weight, _, _ in parts)
        images = [(weight / total, member.image(part, phi, n)) for weight, member, part in parts]
        matrix = np.hstack([weight * image.matrix for weight, image in images])
        offset = np.sum([weight * image.offset for weight, image in images], axis=0)
        return AffineImage(Product([image.primitive for _, image in images]), matrix, offset)

    def components(self, theta: Array, k: int, usage: Array, names: Sequence[str]) -> list[str]:
        """Say which share of the region is of which kind."""
        shares: dict[str, list[float]] = {}
        for weight, member, _ in self.parts(theta, len(names), k):
            shares.setdefault(" ".join(repr(member).split()), []).append(weight)
        return [
            f"{len(weights)} x {name}: {100 * sum(weights):.3g} % of the region"
            for name, weights in sorted(shares.items(), key=lambda pair: -sum(pair[1]))
            if sum(weights) > VISIBLE_TOL
        ]
