"""Scores of whole statements: a prompt with a candidate written in its slot."""
