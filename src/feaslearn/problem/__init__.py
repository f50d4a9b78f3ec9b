"""Forward problems: the true one and the learned one behind one interface."""

from __future__ import annotations

from feaslearn.problem.forward_problem import ForwardProblem, Norm
from feaslearn.problem.learned_problem import LearnedProblem
from feaslearn.problem.linear_program import AffineRows, LinearProgram

__all__ = ["AffineRows", "ForwardProblem", "LearnedProblem", "LinearProgram", "Norm"]
