"""What only authors and teachers need."""
