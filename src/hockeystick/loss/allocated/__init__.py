"""Random allocation: each record takes part in one of several steps (docs/mathematics/allocation.md)."""
