"""The version, by itself: a module that needs it imports no more."""

__version__ = "0.1.0"
