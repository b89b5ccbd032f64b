"""The studies of the report: one folder each, its pages and the analysis that only they need."""
