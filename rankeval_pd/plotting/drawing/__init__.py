"""Draws tables that are there; computes nothing but positions on the paper."""
