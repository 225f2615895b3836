"""Draws whose law is met exactly, from random bits alone: noise, samples and choices (docs/mathematics.md, section 17)."""
