"""Entries, their chain of hashes, and the verification of both, which need no data base."""
