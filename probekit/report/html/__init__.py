"""A page or a few tables as one HTML file that opens anywhere, without the book and without a network."""
