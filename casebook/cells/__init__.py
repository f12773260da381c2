"""A cell and its notebook as data: text in, text out."""
