"""Read data of every kind. Only these modules know how the user stores the data."""
