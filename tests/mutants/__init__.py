"""Small faults that the tests must notice: `faults/` holds them, `python -m tests.mutants` puts them in one at a time."""
