"""What models are asked, as data: the name of a model, a probe or texts, and options. A question knows its work."""
