"""Kernels without a privacy word in them: rounding, roots, series, normal tails, decay of transforms."""
