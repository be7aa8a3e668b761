"""`kumiki linpack`: chooses how to run Linpack here, says why, and runs it (TSUBAME paper)."""
