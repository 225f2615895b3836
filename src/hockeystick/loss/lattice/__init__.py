"""The exponentially tilted lattice (FFT) that rounds losses to both sides."""
