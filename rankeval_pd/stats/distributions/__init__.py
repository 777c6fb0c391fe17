"""Distributions of counts: probabilities and tails, exact however small."""
