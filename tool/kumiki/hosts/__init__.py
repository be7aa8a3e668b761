"""The hosts that an evaluation runs over: where their names come from, how they are reached, what is recorded."""

from kumiki.hosts.model import Hosts, Origin

__all__ = ["Hosts", "Origin"]
