"""Read runs and relevance judgments from frames, Datasets and TREC files."""
