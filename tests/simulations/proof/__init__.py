"""The pages of the proof, made by ``python -m tests.simulations.proof``: nothing in them is typed."""
