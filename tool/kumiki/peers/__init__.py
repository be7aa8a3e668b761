"""Installations of MPIs and of UCX that the user names, measured beside those of the distribution.

`named` reads the options, `installation` identifies the software in a prefix, and `programs` builds the measuring
programs with it from the `sources` that are installed with Kumiki.
"""
