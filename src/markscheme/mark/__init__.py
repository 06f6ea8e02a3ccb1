"""Normalise, read the response, judge each axis, build the breakdown."""
