"""Terminal, JSON and files: draws what was decided, decides nothing."""
