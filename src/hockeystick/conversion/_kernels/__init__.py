"""Shared numerical kernels behind the formulas of the papers."""
