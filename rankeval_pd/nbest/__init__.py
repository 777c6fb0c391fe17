"""How good is an n-best list, and is one better than another? (Evert 2004)."""
