"""What there is to measure on, and beside: the machine, others' load on it, the native part, peers such as an MPI."""
