"""Questions about n-best lists."""
