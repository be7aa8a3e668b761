"""The page: its parts, and the HTML file made from them."""
