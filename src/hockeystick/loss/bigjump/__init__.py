"""Single-big-jump splitting: large jumps are integrated in closed form, the rest by contour quadrature."""
