"""Plan annotation, and estimate results for partly judged candidates."""
