"""Random data, random options: no call may change its input or give a number that cannot be."""
