"""How the code cells of a notebook look on its page."""
