"""Items a second into and out of a replay table: lp in threads and in processes and, with --reverb=VENV, Reverb beside it.

Usage: replay.py FOLDER-OF-BENCHMARKS [--quick] [--reverb=VENV]; VENV is a virtual environment with dm-reverb and
tensorflow. Prints a table (Markdown) on standard error and JSON on standard output.
"""

import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent
QUICK = "--quick" in sys.argv
VENV = next((word.removeprefix("--reverb=") for word in sys.argv if word.startswith("--reverb=")), None)


def run(command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=1200).stdout)


def reverb():
    """Reverb's rates by launch, size and batch."""
    if VENV is None:
        return {}
    python = pathlib.Path(VENV) / "bin" / "python"
    if not python.exists():
        sys.exit(f"--reverb={VENV}: there is no {python}; make it with python3.10 -m venv, and install dm-reverb==0.14.0 and "
                 "tensorflow-cpu==2.14.* there")
    rows = run([str(python), str(HERE / "reverb_peer.py"), "0.1" if QUICK else "2"])
    return {(row["launch"], row["bytes"], row["batch"]): row for row in rows}


def line(cells):
    print("| " + " | ".join(cells) + " |", file=sys.stderr)


def times(ours, theirs):
    return f"{theirs:,.0f} (x {ours / theirs:,.0f})"


def main():
    peers = reverb()
    rows = run([str(FOLDER / "replay_bench"), *(["--quick"] if QUICK else [])])
    titles = ["launch", "bytes", "batch", "clients", "inserts/s", "samples/s", "inserts / memcpy", "samples / memcpy"]
    line(titles + (["Reverb inserts/s", "Reverb samples/s"] if peers else []))
    line(["---"] + ["---:"] * (len(titles) - 1 + (2 if peers else 0)))
    for row in rows:
        peer = peers.get((row["launch"], row["bytes"], row["batch"])) if row["drivers"] == 1 else None
        if peer is not None:
            row["reverb"] = peer
        cells = [row["launch"], f"{row['bytes']}", f"{row['batch']}", f"{row['drivers']}",
                 f"{row['inserts_a_second']:,.0f}", f"{row['samples_a_second']:,.0f}",
                 f"{row['insert_share_of_memcpy']:.2f}", f"{row['sample_share_of_memcpy']:.2f}"]
        if peers:
            cells += [times(row[f"{what}_a_second"], peer[f"{what}_a_second"]) if peer else "" for what in
                      ["inserts", "samples"]]
        line(cells)
    print(json.dumps({"benchmark": "replay", "rows": rows}))


if __name__ == "__main__":
    main()
