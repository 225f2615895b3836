"""Questions beyond one epsilon: many at once, many runs, 1 - delta, mu, trade-off curves."""
