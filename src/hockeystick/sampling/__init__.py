"""Wrappers around one release that say how the records it sees are drawn."""
