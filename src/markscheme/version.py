"""The version of this package, for whoever tells it."""

__version__ = "0.2.0"
