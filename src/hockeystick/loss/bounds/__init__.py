"""Bounds that hold for every run: elementary ones, and the Rényi (Chernoff) conversion."""
