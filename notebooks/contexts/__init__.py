"""Study 2: text before the question."""
