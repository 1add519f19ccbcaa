"""How long lp's agents learn, over five seeds, and, with --sb3=VENV, how long Stable-Baselines3 takes to 475 in CartPole.

Usage: learning.py FOLDER-OF-BENCHMARKS [--quick] [--seeds=N] [--curves=FOLDER] [--sb3=VENV]; VENV is a virtual environment
with stable-baselines3 and torch. Prints tables on standard error, and JSON on standard output. Fails when lp takes more
than a fifth of the time of Stable-Baselines3.
"""

import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
GOAL = 475
FACTOR = 5


def flag(name, otherwise=None):
    return next((word.removeprefix(f"--{name}=") for word in sys.argv if word.startswith(f"--{name}=")), otherwise)


def lp():
    own = [word for word in sys.argv[2:] if not word.startswith("--sb3=")]
    out = subprocess.run([pathlib.Path(sys.argv[1]) / "learning_bench", *own], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(out.stdout.splitlines()[-1])


def sb3(agent, seeds):
    python = pathlib.Path(flag("sb3"), "bin/python")
    if not python.exists():
        sys.exit(f"{python} is missing; make it with python3 -m venv, and install stable-baselines3")
    rows = []
    for seed in range(1, seeds + 1):
        out = subprocess.run([python, HERE / "sb3_peer.py", agent, str(seed)], stdout=subprocess.PIPE, check=True, text=True)
        rows.append(json.loads(out.stdout.splitlines()[-1]))
    return rows


def main():
    rows = lp()
    peers = {}
    slow = False
    if flag("sb3"):
        seeds = 1 if "--quick" in sys.argv else int(flag("seeds", "5"))
        print(f"\n| agent | lp, seconds to {GOAL} | Stable-Baselines3, seconds to {GOAL} | reached it | factor |\n"
              "| --- | ---: | ---: | ---: | ---: |", file=sys.stderr)
        for agent in ["dqn", "ppo"]:
            peers[agent] = sb3(agent, seeds)
            own = next(row for row in rows if (row["agent"], row["environment"]) == (agent, "cartpole"))
            seconds = statistics.median(own["seconds"])
            other = statistics.median(row["seconds"] for row in peers[agent])
            reached = sum(row["reached"] for row in peers[agent])
            print(f"| {agent} | {seconds:.1f} | {other:.1f} | {reached} of {seeds} | {other / seconds:.1f} |", file=sys.stderr)
            slow = slow or other < FACTOR * seconds
    print(json.dumps({"lp": rows, "sb3": peers}))
    return 1 if slow and "--quick" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
