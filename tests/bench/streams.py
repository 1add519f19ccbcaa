"""Keyed counts in windows over generated events, in processes, beside Bytewax where PYTHON has it.

Usage: streams.py streams_bench [--events=N] [--seconds=N] [--runs=N] [--bytewax=PYTHON] [--json]

Events in a second; the delay of a result behind the end of its window at half of that rate; and the memory of the
processes for as many and for eight times as many events. The counts are checked before a time counts. Prints a table
(Markdown) on standard error, and with --json one JSON object on standard output.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import process_memory

BENCH = sys.argv[1]
FLAGS = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
EVENTS = int(FLAGS.get("events", 40_000_000))
SECONDS = int(FLAGS.get("seconds", 20))
RUNS = int(FLAGS.get("runs", 3))
PEER_EVENTS = 200_000


def run(*flags):
    """The result of a run, its rows (count, delay), and the largest resident memory of a process in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder, "counts")
        command = [BENCH, "--launch=processes", "--json", f"--directory={folder}/run", f"--pipeline.into={into}", *flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            peak = 0
            while process.poll() is None:
                peak = max(peak, *map(process_memory.peak_kib, process_memory.descendants(process.pid)))
                time.sleep(0.05)
            out, errors = process.communicate()
        if process.returncode != 0:
            sys.exit(f"{command} ended with {process.returncode}: {errors}")
        rows = [tuple(map(int, line.split())) for part in into.glob("part-*") for line in part.read_text().splitlines()]
        return json.loads(out.splitlines()[-1]), rows, peak / 1024


def peak_rate(events):
    result, rows, memory = run(f"--events={events}")
    if sum(count for count, _ in rows) != events:
        sys.exit(f"the windows have {sum(count for count, _ in rows)} events, not {events}")
    return events / result["seconds"], memory


def delays(rate):
    """Milliseconds from the end of a window to its results, in order; not those of the end of the stream."""
    _, rows, _ = run(f"--events={int(rate * SECONDS)}", f"--rate={rate}", "--window_ms=100", "--keys=1000")
    return sorted(delay for _, delay in rows if delay >= 0)


def bytewax(python):
    """Its events in a second, the best of one process and two."""
    rates = []
    for processes in (1, 2):
        begin = time.monotonic()
        subprocess.run([python, "-m", "bytewax.testing", "bytewax_peer:flow", "-p", str(processes)], check=True,
                       cwd=pathlib.Path(__file__).parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "EVENTS": str(PEER_EVENTS), "PARTS": str(processes), "PYTHONDONTWRITEBYTECODE": "1"})
        rates.append(PEER_EVENTS / (time.monotonic() - begin))
    return max(rates)


def main():
    measured = [peak_rate(EVENTS) for _ in range(RUNS)]
    rate = statistics.median(rate for rate, _ in measured)
    more_memory = peak_rate(8 * EVENTS)[1]
    late = delays(rate / 2)
    result = {"events_per_second": rate, "delay_ms_median": late[len(late) // 2], "delay_ms_p99": late[len(late) * 99 // 100],
              "memory_mib": statistics.median(memory for _, memory in measured), "memory_mib_8_times": more_memory}
    if "bytewax" in FLAGS:
        result["bytewax_events_per_second"] = bytewax(FLAGS["bytewax"])
    print("| figure | value |\n| --- | ---: |", file=sys.stderr)
    for name, value in result.items():
        print(f"| {name.replace('_', ' ')} | {value:,.0f} |", file=sys.stderr)
    if "json" in FLAGS:
        print(json.dumps(result))


main()
