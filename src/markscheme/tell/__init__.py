"""Draw results for people: terminal, HTML, Markdown, JUnit, GitHub annotations, progress.

`words` and `page` hold the texts that all formats share, `language` translates them, and one module
for each medium lays them out. Nothing here decides anything: scores, outcomes and verdicts come
from `weigh` and `prove`, and files are written by the commands.
"""
