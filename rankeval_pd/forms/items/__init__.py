"""Read systems scored on test items, with the sufficient statistics of a metric."""
