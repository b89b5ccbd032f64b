"""Agreement of completions within and between families of models, and by group (paper 004, Figures 4 and 5)."""
