"""Rounds of federated averaging to a target accuracy, by E, B, C and split: the shape of tables 1 and 2 of McMahan et al.

Usage: federated.py FOLDER-OF-EXAMPLES [--quick]; prints a table (Markdown) on standard error and JSON on standard output. A figure
is the median of three seeds, in threads. It ends with 1 unless the figures are ordered as the paper's.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(sys.argv[1])
QUICK = "--quick" in sys.argv
CLIENTS, TARGET, MOST = (20, 0.9, 300) if QUICK else (50, 0.94, 1500)
SEEDS = [1] if QUICK else [1, 2, 3]
SPLITS = {"IID": 0, "non-IID": 2}  # shards of a client, sorted by label
SHARES = [0, 1] if QUICK else [0, 0.1, 0.2, 0.5, 1]
ALL = 2000  # examples: more than a client has
WORK = {"E=1, B=∞": (1, ALL), "E=5, B=∞": (5, ALL), "E=1, B=10": (1, 10), "E=5, B=10": (5, 10)}


def rounds(split, work, share):
    """The rounds to the target; MOST when it is not reached."""
    epochs, batch = WORK[work]

    def once(seed):
        with tempfile.TemporaryDirectory() as directory:
            output = subprocess.run([FOLDER / "train", "--json", "--scheme=federated", f"--workers={CLIENTS}", f"--steps={MOST}",
                                     f"--target={TARGET}", f"--fraction={share}", f"--epochs={epochs}", f"--batch={batch}",
                                     f"--label-shards={SPLITS[split]}", f"--seed={seed}", "--rate=0.1", "--launch=threads",
                                     f"--directory={directory}/run"], check=True, capture_output=True, text=True).stdout
        return json.loads(output.splitlines()[-1])["updates"]
    return statistics.median(once(seed) for seed in SEEDS)


def shown(count):
    return f"{count:.0f}" if count < MOST else f"> {MOST}"


def mistakes(table):
    """The places where the figures are ordered otherwise than in the paper. With E=1, B=∞ a round is one step: there the
    paper, too, sees little effect of C, and with C=1 the splits are the same."""
    pairs = []
    for split in SPLITS:
        pairs += [((split, work, 0), (split, work, share)) for work in WORK if WORK[work][1] != ALL for share in SHARES]
        pairs += [((split, f"E=1, B={batch}", share), (split, f"E=5, B={batch}", share)) for batch in ["∞", "10"] for share in SHARES]
        pairs += [((split, "E=1, B=∞", share), (split, "E=1, B=10", share)) for share in SHARES if share > 0]
    pairs += [(("non-IID", work, share), ("IID", work, share)) for work in WORK if work != "E=1, B=∞" for share in SHARES]
    for more, fewer in pairs:
        if table[fewer] > table[more]:
            yield f"{fewer} needs {shown(table[fewer])} rounds, {more} only {shown(table[more])}"


def main():
    print(f"| rounds to {TARGET:.0%} | | " + " | ".join(f"C={share:g}" for share in SHARES) + " |", file=sys.stderr)
    print("| --- | --- |" + " ---: |" * len(SHARES), file=sys.stderr)
    table = {}
    for split in SPLITS:
        for work in WORK:
            for share in SHARES:
                table[split, work, share] = rounds(split, work, share)
            cells = [shown(table[split, work, share]) for share in SHARES]
            print(f"| {split} | {work} | " + " | ".join(cells) + " |", file=sys.stderr, flush=True)
    rows = [{"split": split, "work": work, "share": share, "rounds": count} for (split, work, share), count in table.items()]
    print(json.dumps({"benchmark": "federated", "clients": CLIENTS, "target": TARGET, "most": MOST, "rows": rows}))
    found = list(mistakes(table))
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
