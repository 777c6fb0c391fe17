"""Collect the test of the pages only: the other files are scripts, and some need R or RDKit."""

collect_ignore_glob = ["[!t]*", "t[!e]*"]
