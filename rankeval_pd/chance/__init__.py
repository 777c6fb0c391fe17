"""Compare measures with random rankings (Macskassy 2005)."""
