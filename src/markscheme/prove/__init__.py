"""What tests the rubric itself."""
