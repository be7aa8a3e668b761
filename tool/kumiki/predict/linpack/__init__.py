"""Linpack on a machine that a file describes: a recursion over the steps of the factorisation (M6 to M8)."""
