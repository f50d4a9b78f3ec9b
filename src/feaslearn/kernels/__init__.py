"""Compiled functions on arrays: the hot path, and nothing else."""
