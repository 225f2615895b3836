"""The same behind a sampler: subsampled pairs, and certified quadrature over their noise."""
