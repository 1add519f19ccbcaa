"""The time of an allreduce among 2, 4 and 8 processes of this host: lp, and Gloo and Open MPI if they were built.

Usage: allreduce.py FOLDER-OF-BENCHMARKS [--quick]; prints a table (Markdown) on standard error and JSON on standard output. Each
system runs five times, in turn with the others; a figure is the median.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(sys.argv[1])
QUICK = "--quick" in sys.argv
LARGEST = ["65536"] if QUICK else []
SYSTEMS = [name for name in ["lp", "gloo", "mpi"] if (FOLDER / f"allreduce_{name}").exists()]


def run(system, ranks):
    program = str(FOLDER / f"allreduce_{system}")
    if system == "lp":
        commands = [[program, str(ranks), *LARGEST]]
    elif system == "mpi":
        commands = [["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), program, *LARGEST]]
    else:
        folder = tempfile.TemporaryDirectory()
        commands = [[program, str(rank), str(ranks), folder.name, *LARGEST] for rank in range(ranks)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [child.communicate(timeout=600)[0] for child in children]
    if any(child.returncode != 0 for child in children):
        sys.exit(f"{commands[0]} failed")
    return {int(size): float(time) for size, time in (line.split()[-2:] for line in outputs[0].splitlines())}


def main():
    rows = []
    titles = {"lp": "lp", "gloo": "Gloo, TCP", "mpi": "Open MPI"}
    print("| " + " | ".join(["ranks", "KiB", *(titles[name] for name in SYSTEMS), "better peer / lp"]) + " |", file=sys.stderr)
    print("|" + " ---: |" * (3 + len(SYSTEMS)), file=sys.stderr)
    for ranks in [2] if QUICK else [2, 4, 8]:
        times = {name: [] for name in SYSTEMS}
        for _ in range(1 if QUICK else 5):
            for name in SYSTEMS:
                times[name].append(run(name, ranks))
        for size in times["lp"][0]:
            row = {name: statistics.median(one[size] for one in times[name]) for name in SYSTEMS}
            peers = [time for name, time in row.items() if name != "lp"]
            cells = [f"{ranks}", f"{size // 1024}", *(f"{row[name]:,.0f}" for name in SYSTEMS),
                     f"{min(peers) / row['lp']:.1f}" if peers else ""]
            print("| " + " | ".join(cells) + " |", file=sys.stderr)
            rows.append({"ranks": ranks, "bytes": size, "microseconds": row})
    print(json.dumps({"benchmark": "allreduce", "rows": rows}))


if __name__ == "__main__":
    main()
