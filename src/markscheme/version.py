"""The version of this package, for whoever tells it."""

__version__ = "0.1.0"
