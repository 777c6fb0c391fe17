"""Plans, sheets and estimates for partly judged candidates."""
