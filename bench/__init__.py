"""Measurements: `make bench` compares with every peer, `make bench-check` counts instructions.  Nothing here is a test."""
