"""Known vulnerabilities of what lock files pin, asked of the package index by pip-audit; ``make audit``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def main(locks: Sequence[str]) -> int:
    """Audit file by file and say what was not audited; stops at a file of which the index answers nothing.

    Returns:
        1 where a vulnerability is known, else 0: also where nobody could be asked.
    """
    known = 0
    for lock in locks:
        answers = ask(lock)
        for package in answers:
            for found in package.get("vulns", []):
                known += 1
                fixed = ", ".join(found["fix_versions"]) or "no version"
                print(f"{lock}: {package['name']} {package['version']}: {found['id']}, mended in {fixed}")
        silent = [package["name"] for package in answers if "vulns" not in package]
        if len(silent) == len(answers):
            print(f"*** NOT AUDITED: the package index did not answer on {', '.join(locks[locks.index(lock) :])}")
            break
        print(f"audited: {lock}" + f"; *** but not {', '.join(silent)}" * bool(silent))
    return int(known > 0)


def ask(lock: str) -> list[dict[str, Any]]:
    """What pip-audit says of each package of a lock file; nothing at all where it reached no index."""
    program = str(Path(sys.executable).with_name("pip-audit"))
    options = ["--disable-pip", "--progress-spinner", "off", "--format", "json", "--requirement", lock]
    done = subprocess.run([program, *options], capture_output=True, check=False)
    return list(json.loads(done.stdout)["dependencies"]) if done.stdout else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
