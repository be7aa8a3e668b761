"""The Maestro network and its message-passing library in simulation (F31, F32)."""
