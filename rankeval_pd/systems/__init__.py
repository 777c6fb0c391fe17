"""Is the gain of a system real? (Berg-Kirkpatrick, Burkett and Klein 2012)."""
