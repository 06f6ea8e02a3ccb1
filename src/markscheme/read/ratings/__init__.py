"""Ratings: what people scored, read from CSV or JSON lines, with every mistake told at once."""

from markscheme.read.ratings.book import RatingFile
from markscheme.read.ratings.checking import RatingScope, read_ratings
from markscheme.read.ratings.rows import RATING_COLUMNS

__all__ = ["RATING_COLUMNS", "RatingScope", "RatingFile", "read_ratings"]
