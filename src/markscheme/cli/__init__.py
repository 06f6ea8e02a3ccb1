"""The commands: parse, call one function of the library, print, choose an exit code."""
