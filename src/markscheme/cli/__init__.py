"""The command line: each module parses the options of one command and calls one workflow.

A command then draws the result with `tell` and chooses an exit code. `main` finds the command,
`process` handles streams and signals, `exit_codes` turns errors into messages and codes. No command
reads, marks, weighs or stores by itself.
"""
