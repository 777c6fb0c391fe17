"""TREC files, metrics per query, and summaries of runs."""
