"""What models say, read closely (paper 004, section 4.2): seeded samples, and shares of words that the paper names."""
