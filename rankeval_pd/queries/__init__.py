"""How good is a ranking per query? TREC files, metrics of each query, and summaries of runs."""
