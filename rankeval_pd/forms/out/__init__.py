"""The way out: tables and Datasets that leave, families of tests, averages over groups."""
