"""Noise correlated by a strategy matrix."""
