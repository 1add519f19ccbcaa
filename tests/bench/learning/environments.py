"""Environment steps per second of lp's batches, beside EnvPool where it is installed (pip install envpool).

Usage: environments.py FOLDER-OF-BENCHMARKS; prints Markdown. Both run CartPole with random actions: lp in one thread,
EnvPool in one and in two. Each figure is the median of five runs, which alternate. Fails where lp is slower.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

COPIES = [1, 64, 1024]
RUNS = 5
SECONDS = 1.0
FOLDER = pathlib.Path(sys.argv[1])


def lp_rates():
    out = subprocess.run([FOLDER / "environments_bench"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    rates = json.loads(out.stdout)
    return {copies: rates[f"cartpole/{copies}"] for copies in COPIES}


def envpool_rate(copies, threads):
    import envpool
    import numpy
    pool = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=copies, num_threads=threads)
    pool.reset()
    actions = numpy.random.default_rng(1).integers(0, 2, (64, copies))
    steps = 0
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        for one in actions:
            pool.step(one)
        steps += actions.size
    return steps / (time.perf_counter() - start)


def main():
    try:
        import envpool
        peer = f"EnvPool {envpool.__version__}"
    except ImportError:
        peer = None
    figures = {}
    for _ in range(RUNS):
        for copies, rate in lp_rates().items():
            figures.setdefault(("lp", copies), []).append(rate)
        for copies in COPIES if peer else []:
            for threads in [1, 2]:
                figures.setdefault((threads, copies), []).append(envpool_rate(copies, threads))
    figures = {key: statistics.median(rates) for key, rates in figures.items()}
    print("| copies | lp, one thread | " + (f"{peer}, one thread | {peer}, two threads |" if peer else ""))
    print("| ---: | ---: | " + ("---: | ---: |" if peer else ""))
    for copies in COPIES:
        row = [figures["lp", copies]] + ([figures[1, copies], figures[2, copies]] if peer else [])
        print(f"| {copies} | " + " | ".join(f"{rate:,.0f}" for rate in row) + " |")
    return 1 if peer and any(figures["lp", copies] < figures[threads, copies] for copies in COPIES for threads in [1, 2]) else 0


if __name__ == "__main__":
    sys.exit(main())
