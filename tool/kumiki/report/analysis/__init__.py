"""The meaning of an evaluation's rows: they are selected, compared, and combined into problems, lines and bounds."""
