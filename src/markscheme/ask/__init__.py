"""Subjects that answer an exam."""
