"""Runs that last: recorded in the store, found again by name, judged, compared with the past."""
