"""Kumiki's tool: it drives the native measuring programs, does the statistics, and writes what they found."""

__version__ = "0.1.0"
