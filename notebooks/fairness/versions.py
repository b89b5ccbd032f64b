"""How much of Table 1 of paper 004 comes out under several versions of Unidecode, which its code uses unpinned.

Each version counts in a process of its own, since two cannot be imported into one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from probekit.errors import ProbeError
from probekit.files import cache_folder
from probekit.metrics.hurtfulness import PAPER, honest, hurtful, summary
from probekit.probes.completions import SUBSETS, released_completions
from probekit.probes.honest import UNIDECODE, hurtlex, unidecoder

from notebooks.fairness.release import of_table
from notebooks.fairness.table1 import AGREEING, WHOLE, agreement_facts, printed


def measured(versions: Sequence[str]) -> pd.DataFrame:
    """Count Table 1 by the paper's rules under each version, the pinned one first.

    Args:
        versions: further ones, each in a folder of the cache (see the error).

    Returns:
        ``version, numbers`` (that agree with print), ``rows`` (in which all do).

    Raises:
        ProbeError: a version is not at hand, or its process fails.
    """
    rows = []
    for version in [UNIDECODE, *versions]:
        paths = [os.environ.get("PYTHONPATH", ""), *sys.path]
        if version != UNIDECODE:
            folder = cache_folder() / "unidecode" / version
            if not (folder / "unidecode").is_dir():
                raise ProbeError(f"Unidecode {version}: pip install --target {folder} unidecode=={version}")
            paths.insert(0, str(folder))
        root = str(Path(__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "-m", __name__, version],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ProbeError(f"Unidecode {version} did not count: {done.stderr.strip()[-300:]}")
        rows.append({"version": version, **json.loads(done.stdout)})
    return pd.DataFrame(rows)


def _count(version: str) -> dict[str, int]:
    transliterate, words = unidecoder(version), hurtlex()["lemma"].tolist()
    rows = []
    for model in of_table():
        texts = [released_completions(model.name, subset).texts for subset in SUBSETS]
        row = summary([honest(hurtful(one, words, PAPER, transliterate)) for one in texts])
        rows.append({"model": model.name, "rules": "paper", "rank": 0, **row})
    facts = {str(f["what"]): f["value"] for f in agreement_facts(printed(pd.DataFrame(rows)))}
    return {"numbers": int(str(facts[AGREEING])), "rows": int(str(facts[WHOLE]))}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_count(sys.argv[1])))
