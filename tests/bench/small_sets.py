"""Schemes with as many updates as serial training reach its accuracy, on small public sets of data.

Usage: small_sets.py FOLDER-OF-EXAMPLES [SCHEME...]; prints Markdown, and fails where a scheme is more than a point of accuracy
away. Needs scikit-learn, which carries breast cancer, wine and iris: they are written as CSV into a temporary folder.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SETS = ["breast_cancer", "wine", "iris"]
SEEDS = range(5)
FLAGS = ["--scale", "--steps=500", "--batch=32", "--launch=processes"]
SERIAL = ["--scheme=synchronous", "--workers=1", "--servers=1"]
SCHEMES = {scheme: [] for scheme in [
    "synchronous", "in_graph", "feeding", "backup", "work_units", "asynchronous", "outer_product", "bounded_delay", "stale_synchronous",
    "softsync", "partitioned", "sliced", "one_bit", "ring", "tree_aggregate", "hogwild", "pipeline"]}
SCHEMES.update(outer_product=["--epoch-share=1"], softsync=["--splits=4"])
POINT = 0.01
FOLDER = pathlib.Path(sys.argv[1])


def export(folder):
    try:
        from sklearn import datasets
    except ImportError:
        sys.exit("scikit-learn is missing: python3 -m venv V && V/bin/pip install scikit-learn, and V/bin/python runs this script")
    for name in SETS:
        data = getattr(datasets, f"load_{name}")()
        names = [str(name).replace(",", " ") for name in [*data.feature_names, "class"]]
        lines = [",".join(names)]
        lines += [",".join([*map(repr, map(float, row)), str(data.target_names[label])]) for row, label in zip(data.data, data.target)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def accuracy(folder, name, *flags):
    """The mean over the seeds."""
    total = 0
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as directory:
            output = subprocess.run([FOLDER / "train", "--json", f"--data={folder}/{name}.csv", f"--seed={seed}", *FLAGS,
                                     f"--directory={directory}/run", *flags], check=True, capture_output=True, text=True).stdout
        total += json.loads(output.splitlines()[-1])["accuracy"]
    return total / len(SEEDS)


def main():
    chosen = sys.argv[2:] or list(SCHEMES)
    far = []
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        export(folder)
        serial = {name: accuracy(folder, name, *SERIAL) for name in SETS}
        print(f"| scheme | {' | '.join(SETS)} |")
        print(f"| --- | {' | '.join('---:' for _ in SETS)} |")
        print(f"| serial | {' | '.join(f'{serial[name]:.1%}' for name in SETS)} |", flush=True)
        for scheme in chosen:
            reached = {name: accuracy(folder, name, f"--scheme={scheme}", *SCHEMES[scheme]) for name in SETS}
            print(f"| {scheme} | {' | '.join(f'{reached[name]:.1%}' for name in SETS)} |", flush=True)
            far += [f"{scheme} on {name}" for name in SETS if abs(reached[name] - serial[name]) > POINT + 1e-9]
    if far:
        sys.exit(f"more than a point away from serial training: {', '.join(far)}")


if __name__ == "__main__":
    main()
