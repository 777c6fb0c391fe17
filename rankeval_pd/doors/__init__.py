"""Read data at the door, and return tables."""
