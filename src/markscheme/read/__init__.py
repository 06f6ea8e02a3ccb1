"""What enters: rubrics, exams, recorded answers, the verb table."""
