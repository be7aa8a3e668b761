"""The results of an evaluation: rows, their statistics, and the files that contain them."""
