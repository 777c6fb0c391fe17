"""Distributions of counts, with exact probabilities and tails down to tiny values."""
