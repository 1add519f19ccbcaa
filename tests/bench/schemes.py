"""The table of programs/README.md: every scheme of examples/train, its traffic and its accuracy.

Usage: schemes.py FOLDER-OF-EXAMPLES [--quick]; prints Markdown. Runs in processes; a figure is the mean of three runs, or
with --quick one run of few steps.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

QUICK = "--quick" in sys.argv
RUNS, STEPS = (1, 40) if QUICK else (3, 1600)
WORKERS, SERVERS, PARAMETERS = 4, 2, 4810  # the defaults of train; the digits' network of 64 hidden units
MODEL = 4 * PARAMETERS  # bytes
ROUNDS = STEPS * 71 // 1600
# For each scheme: its flags, and the bytes of values that all workers push in a step of 64 examples.
SCHEMES = {
    "synchronous": ([], WORKERS * MODEL),
    "in_graph": ([], MODEL),
    "feeding": ([], WORKERS * MODEL),
    "backup": ([], WORKERS * MODEL),
    "work_units": ([], MODEL),
    "asynchronous": ([], MODEL),
    "outer_product": ([f"--steps={STEPS * 4 // 3}"], 64 * (64 + 64 + 64 + 10) * 4),
    "bounded_delay": ([], WORKERS * MODEL),
    "stale_synchronous": ([], MODEL),
    "softsync": (["--rate=0.4"], MODEL),
    "tree": (["--rate=0.2", "--splits=2"], MODEL),
    "partitioned": (["--partition-bytes=4000"], WORKERS * MODEL),
    "sliced": ([], WORKERS * MODEL),
    "ring": ([], 2 * (WORKERS - 1) * (MODEL + 4)),  # and the number of examples
    "local_sgd": (["--average-every=20", "--rate=0.3"], 2 * (WORKERS - 1) * MODEL / (WORKERS * 20)),
    "bmuf": (["--average-every=20"], 2 * (WORKERS - 1) * MODEL / (WORKERS * 20)),
    "tree_aggregate": ([], WORKERS * MODEL),
    "topology": (["--rate=0.2"], MODEL),
    "hogwild": ([], 0),
    "gossip": (["--rate=0.3"], 0.1 * MODEL),
    "federated": ([f"--steps={ROUNDS}", "--batch=16", "--epochs=2"], ROUNDS * 2 * MODEL / STEPS),
    "pipeline": ([], 2 * 64 * 64 * 4),  # activations and derivatives between the two layers
    "one_bit": ([], WORKERS * (PARAMETERS / 8 + 8 * PARAMETERS / 64)),
}
SOURCES = {"backup": "synchronous", "tree": "softsync", "bmuf": "local_sgd"}
FOLDER = pathlib.Path(sys.argv[1])
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "programs"


def run(*flags):
    with tempfile.TemporaryDirectory() as directory:
        steps = [] if any(flag.startswith("--steps") for flag in flags) else [f"--steps={STEPS}"]
        output = subprocess.run([FOLDER / "train", "--json", *steps, f"--directory={directory}/run",
                                 *flags], check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def lines(scheme):
    name = SOURCES.get(scheme, scheme)
    return sum(len((PROGRAMS / folder / (name + suffix)).read_text().splitlines())
               for folder in ["schemes", "training"] for suffix in [".h", ".cc"]
               if (PROGRAMS / folder / (name + suffix)).exists())


def main():
    listed = subprocess.run([FOLDER / "train", "--list"], check=True, capture_output=True, text=True).stdout
    systems = dict(re.findall(r"^(\w+) .*?\(((?:[^()]|\([^()]*\))*)\)$", listed, re.MULTILINE))
    serial = run("--workers=1")["accuracy"]
    print(f"Digits, {WORKERS} workers, {SERVERS} servers, {STEPS} batches of 64; serial SGD reaches {serial:.1%}.\n")
    print("| scheme | system | lines | pushed bytes a step | by formula | updates | staleness | idle | accuracy |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for scheme, (flags, formula) in SCHEMES.items():
        results = [run(f"--scheme={scheme}", "--launch=processes", *flags) for _ in range(RUNS)]
        mean = {key: sum(result[key] for result in results) / RUNS
                for key in ["bytes_sent", "updates", "mean_staleness", "idle_share", "accuracy"]}
        print(f"| {scheme} | {systems[scheme]} | {lines(scheme)} | {mean['bytes_sent'] / STEPS:,.0f} | {formula:,.0f} | "
              f"{mean['updates']:.0f} | {mean['mean_staleness']:.2f} | {mean['idle_share']:.0%} | {mean['accuracy']:.1%} |")


if __name__ == "__main__":
    main()
