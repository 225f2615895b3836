"""Random allocation of steps that are no Gaussian noise (docs/mathematics/allocation-steps.md)."""
