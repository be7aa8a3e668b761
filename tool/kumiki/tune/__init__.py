"""`kumiki tune`: which length of message fragments is best on this machine and link (Maestro paper, F21, F27)."""
