"""The plots, one module per kind. Each takes rows and gives a Picture: an SVG with its legend."""
