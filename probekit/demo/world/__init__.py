"""The invented world: its facts, how often each is told, and everything that is asked of them."""
