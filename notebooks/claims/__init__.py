"""The ledger: what all studies came to."""
