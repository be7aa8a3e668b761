"""Clusters on one machine: hosts that are network namespaces, linked by a bridge in a namespace of its own.

There is no state file: whatever has to be known of a cluster is asked of the system (`inspection`).
"""
