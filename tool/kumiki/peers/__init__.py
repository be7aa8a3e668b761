"""Installations of MPIs and of UCX that the user names, measured beside those of the distribution.

`named` reads what the user wrote, `installation` finds what lies there, `programs` builds the measuring programs with
it of the `sources` that are installed with Kumiki.
"""
