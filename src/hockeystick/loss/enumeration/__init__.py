"""Exact enumeration of the support of a sum of few steps."""
