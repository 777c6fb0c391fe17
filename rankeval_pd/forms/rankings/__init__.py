"""Rankings: candidates with scores of measures and a gold label."""
