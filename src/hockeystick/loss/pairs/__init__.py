"""One step, one ordered pair of laws (P, Q), without sampling: what the privacy loss is."""
