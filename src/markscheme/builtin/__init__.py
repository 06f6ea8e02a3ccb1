"""Data only: rubrics, exams, the verb table, JSON Schemas, the starter project."""
