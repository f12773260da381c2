"""From a header and an interpreter to an outcome."""
