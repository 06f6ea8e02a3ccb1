"""Ratings: what people scored, read from CSV or JSON lines, with every mistake told at once."""

from markscheme.read.ratings.book import RatingBook
from markscheme.read.ratings.checking import Raters, read_ratings
from markscheme.read.ratings.rows import COLUMNS

__all__ = ["COLUMNS", "Raters", "RatingBook", "read_ratings"]
