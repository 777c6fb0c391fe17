"""Test gains between systems (Berg-Kirkpatrick, Burkett and Klein 2012)."""
