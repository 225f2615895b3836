"""Beside the conversions: both directions at once, the terms of closed forms, where an optimum is attained, asymptotes."""
