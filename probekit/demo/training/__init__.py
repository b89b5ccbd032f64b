"""How small models are made from a text: recipes, vocabularies, objectives, and the loop itself."""
