"""Word count and sort as map-reduces in processes, beside coreutils on the same files, and Spark where VENV has pyspark.

Usage: mapreduce.py FOLDER-OF-EXAMPLES [--words=MIB] [--lines=MIB] [--memory=MIB] [--folder=FOLDER] [--spark=VENV]

The results are compared before a time counts. Prints a table (Markdown) on standard error and JSON on standard output.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import texts

import process_memory

FOLDER = pathlib.Path(sys.argv[1])
FLAGS = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[2:])
MEMORY = int(FLAGS.get("memory", 256))
SPARK_COUNT = ("spark.read.text(a).select(f.explode(f.split('value', '[ \\\\t]+')).alias('word')).where(\"word != ''\")"
               ".groupBy('word').count().write.csv(b, sep='\\t')")
SPARK_SORT = "spark.read.text(a).sort('value').write.text(b)"
SPARK = ("import sys; from pyspark.sql import SparkSession, functions as f; a, b = sys.argv[1:]; "
         "settings = {'driver.memory': '2g', 'driver.host': 'localhost', 'ui.enabled': 'false', 'local.dir': b + '.tmp'}; "
         "builder = SparkSession.builder.master('local[2]'); [builder.config('spark.' + name, value) for name, value in settings.items()]; "
         "spark = builder.getOrCreate(); ")


def timed(command, **more):
    """Seconds, and the largest resident memory in MiB of the processes that it started, of each of them."""
    begin = time.monotonic()
    with subprocess.Popen(command, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, *(process_memory.peak_kib(child) for child in process_memory.descendants(process.pid)), 0)
            time.sleep(0.02)
        if process.returncode != 0:
            sys.exit(f"{command} ended with {process.returncode}: {process.stderr.read().decode()}")
    return time.monotonic() - begin, peak / 1024


def copy_seconds(path, to):
    """How long it takes to read the file and write it again: the bound for a program that does it once."""
    begin = time.monotonic()
    subprocess.run(["cp", "--reflink=never", str(path), str(to)], check=True)
    return time.monotonic() - begin


def memory_rate():
    """Bytes that one core writes to memory in a second while it copies."""
    block = memoryview(bytearray(256 << 20))
    half = len(block) // 2
    seconds = []
    for _ in range(5):
        begin = time.monotonic()
        block[:half] = block[half:]
        seconds.append(time.monotonic() - begin)
    return half / min(seconds)


def lp(name, path, folder, *flags):
    """Seconds, peak memory, and the bytes that the job reads and writes: input, sorted runs twice, output."""
    output = folder / f"{name}.json"
    with open(output, "wb") as file:
        seconds, peak = timed([str(FOLDER / name), "--launch=processes", "--json", f"--input={path}", f"--into={folder / name}",
                               f"--memory_mib={MEMORY}", f"--directory={folder / name}.run", *flags], stdout=file)
    counters = json.loads(output.read_text().splitlines()[-1])["counters"]
    return seconds, peak, counters["input_bytes"] + 2 * counters["shuffled_bytes"] + counters["output_bytes"]


def check(command):
    if subprocess.run(["bash", "-c", command], env={**os.environ, "LC_ALL": "C"}, check=False).returncode != 0:
        sys.exit(f"the results differ: {command}")


def measure(name, path, folder, command, spark, text):
    """`text` turns parts of the result into that of the command."""
    size, result = path.stat().st_size, folder / f"{name}.coreutils"
    copy = copy_seconds(path, folder / "copy")
    (folder / "copy").unlink()
    seconds, peak, moved = lp(name, path, folder)
    theirs, _ = timed(["bash", "-c", f"{command} >{result}"], env={**os.environ, "LC_ALL": "C", "TMPDIR": str(folder)})
    check(f"cat {folder / name}/part* | {text} | cmp - {result}")
    shutil.rmtree(folder / name)  # room for the next one
    row = {"job": name, "mib": size / 2**20, "lp_seconds": seconds, "worker_peak_mib": peak, "coreutils_seconds": theirs,
           "times_coreutils": theirs / seconds, "share_of_disk": moved / seconds / (2 * size / copy),
           "share_of_memory": moved / seconds / memory_rate()}
    if "spark" in FLAGS:
        output = folder / f"{name}.spark"
        row["spark_seconds"], _ = timed([f"{FLAGS['spark']}/bin/python", "-c", SPARK + spark, str(path), str(output)],
                                        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"})
        row["times_spark"] = row["spark_seconds"] / seconds
        check(f"cat {output}/part* | {text} | cmp - {result}")
        shutil.rmtree(output)
    result.unlink()
    return row


def main():
    with tempfile.TemporaryDirectory(dir=FLAGS.get("folder")) as name:
        folder = pathlib.Path(name)
        words, lines = folder / "words", folder / "lines"
        texts.write_words(words, int(FLAGS.get("words", 1024)) << 20)
        rows = [measure("wordcount", words, folder, f"tr -s '[:space:]' '\\n' <{words} | sort --parallel=2 | uniq -c", SPARK_COUNT,
                        "sort | awk '{printf \"%7d %s\\n\", $2, $1}'")]
        words.unlink()
        texts.write_lines(lines, int(FLAGS.get("lines", 2048)) << 20)
        rows.append(measure("sort", lines, folder, f"sort --parallel=2 {lines}", SPARK_SORT, "cat"))
    titles = ["job", "MiB", "lp s", "peak MiB of a process", "coreutils s", "coreutils / lp", "of the rate of cp", "of the rate of memcpy"]
    print("| " + " | ".join(titles + (["Spark s", "Spark / lp"] if "spark" in FLAGS else [])) + " |\n| --- |" + " ---: |" * (len(rows[0]) - 1), file=sys.stderr)
    for row in rows:
        print("| " + " | ".join(value if isinstance(value, str) else f"{value:,.2f}" for value in row.values()) + " |", file=sys.stderr)
    print(json.dumps({"benchmark": "mapreduce", "memory_mib": MEMORY, "rows": rows}))


main()
