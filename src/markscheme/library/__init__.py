"""The functions of the public library, composed from the rooms; the commands call these.

What only one function needs is imported in it, so that the others start sooner; polars above all,
which starts threads, after which no worker can be forked.
"""
