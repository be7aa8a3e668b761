"""`kumiki run --explain`: what shared memory has cost a run, and what to change."""
