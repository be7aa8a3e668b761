"""What an evaluation leaves: rows, their statistics, and the files that hold them."""
