"""What only authors need: writing, running and checking chapters."""
