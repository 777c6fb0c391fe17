"""The public cases of peers, asked of us: ``python -m tests.peers`` counts them."""
