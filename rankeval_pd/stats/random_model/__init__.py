"""What a random ranking reaches: at one n, and at any of many."""
