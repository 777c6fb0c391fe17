"""The pages of the proof, made by ``python -m tests.proof``: nothing in them is typed."""
