"""Which engine answers a question: one registry, one driver."""
