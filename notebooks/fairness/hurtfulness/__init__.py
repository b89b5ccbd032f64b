"""Study 4 (paper 004): hurtful completions, as the paper's code counts them and repaired."""
