"""Everything that enters from files: rubrics, exams, answers, agents' logs, ratings, results.

Each module or package reads one kind of input, checks it and returns domain types of `vocabulary`.
Mistakes are collected and reported together, with file, line and field. Nothing here asks a
subject, scores an answer, writes a file or knows the store.
"""
