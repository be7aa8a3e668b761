"""A program of the user's own in the report: its speed-ups, the laws fitted to them, their table and section."""
