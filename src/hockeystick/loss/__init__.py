"""Representations of a composed privacy loss that answer delta(epsilon) and epsilon(delta)."""
