"""Results: tables and Datasets, families of tests, averages over groups."""
