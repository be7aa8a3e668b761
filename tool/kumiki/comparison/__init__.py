"""`kumiki compare`: two results, or several side by side."""
