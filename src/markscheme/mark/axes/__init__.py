"""The axes that rubrics can name: one module for each family of kinds, and their registry."""

from markscheme.mark.axes.registry import AXES, EXPECTATIONS
