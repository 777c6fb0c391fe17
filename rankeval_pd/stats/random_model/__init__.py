"""Counts of true positives that a random ranking reaches at one n or at any n."""
