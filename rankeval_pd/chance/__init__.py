"""Is it better than a random ranking? (Macskassy 2005)."""
