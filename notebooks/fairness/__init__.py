"""Study 4, paper 004: hurtful completions."""
