"""What enters: rubrics, exams, recorded answers, agents' logs, the verb table."""
