"""From a header to an interpreter."""
