"""Timings, as ratios within one run; ``make bench`` prints them. They are no tests."""
