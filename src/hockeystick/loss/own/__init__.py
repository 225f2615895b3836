"""Pairs that users bring: finite laws, densities, and the stored masses of other libraries."""
