"""Read systems over test items, with the sufficient statistics of a metric."""
