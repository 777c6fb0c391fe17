"""Queries: runs and relevance judgments."""
