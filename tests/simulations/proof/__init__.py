"""The pages that ``python -m tests.simulations.proof`` makes: nothing in them is typed."""
