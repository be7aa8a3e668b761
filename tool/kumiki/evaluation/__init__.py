"""An evaluation: what is measured and in which order, each point run under a time limit, and its rows."""
