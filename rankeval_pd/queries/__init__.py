"""And per query? Runs and judgements in files, metrics of each query, and their averages."""
