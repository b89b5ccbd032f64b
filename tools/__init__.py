"""Programs that ``make`` calls; no part of the package."""
