"""Study 3: masked-word prediction and rationales (paper 003)."""
