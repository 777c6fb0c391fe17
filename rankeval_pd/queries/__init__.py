"""Read TREC files, compute metrics per query, and summarize runs."""
