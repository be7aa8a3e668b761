"""The hosts that an evaluation runs over: the source of their names, how they are reached, and what is recorded."""

from kumiki.hosts.model import Hosts, Origin

__all__ = ["Hosts", "Origin"]
