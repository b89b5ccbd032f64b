"""Study 1, paper 001: templates against natural sentences."""
