"""What a run gives to others: files that open anywhere, without the book and without a network."""
