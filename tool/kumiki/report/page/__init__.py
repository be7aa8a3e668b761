"""The page: its parts, and the file that they become."""
