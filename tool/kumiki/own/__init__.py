"""A program of the user's own: what was asked of it, and its runs over ranks and threads."""
