"""Planning: from a training run to its description."""
