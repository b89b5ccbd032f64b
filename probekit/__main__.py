"""The command line, as ``python -m probekit``."""

import sys

from probekit.cli import main

if __name__ == "__main__":
    sys.exit(main())
