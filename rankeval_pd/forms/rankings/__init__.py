"""Read rankings of candidates with scores and a gold label."""
