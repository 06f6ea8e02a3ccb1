"""`python -m markscheme` is the same command."""

from markscheme.cli.main import run

if __name__ == "__main__":
    run()
