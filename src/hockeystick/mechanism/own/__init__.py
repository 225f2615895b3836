"""Pairs that users bring, and what a pair is by itself."""
