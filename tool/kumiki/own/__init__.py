"""A program of the user's own: the request, and its runs over ranks and threads."""
