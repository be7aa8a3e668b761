"""What the rows of an evaluation say: picked, compared, and drawn together into problems, lines and bounds."""
