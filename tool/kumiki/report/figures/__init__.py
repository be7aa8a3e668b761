"""The plots, one module per kind. Each takes rows and returns a Picture: an SVG with its legend."""
