"""The public cases of peers, asked of us: ``python -m tests.tools.peers`` counts them."""
