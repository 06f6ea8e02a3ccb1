"""Where markscheme meets other programs: pytest, MCP clients, and evaluation tools as their scorer.

Each module belongs to one program and loads nothing before it is used. What other tools wrote is
read in `read.foreign`; rewards for training are in `markscheme.rewards`.
"""
