"""The examples of pipelines against serial runs, also when their nodes are killed. Usage: pipeline_test.py FOLDER [--long]"""

import collections
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import unittest

import launch

KILLS = 3
LINES = 20_000 if "LP_SANITIZED" in os.environ else 100_000


def parts(folder):
    """The lines of all visible parts, sorted."""
    lines = []
    for part in pathlib.Path(folder).glob("part-*"):
        lines += part.read_text().splitlines()
    return sorted(lines)


def make_lines(count, seed=1):
    """Lines of a time and words, whose times are at most a second in disorder."""
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefgh", k=source.randint(1, 4))) for _ in range(300)]
    return [f"{10 * number - source.randrange(1000)} {' '.join(source.choices(words, k=5))}" for number in range(count)]


def windowed_counts(lines, seconds):
    """What stream_wordcount makes of lines of which none is late."""
    size = 1000 * seconds
    counts = collections.Counter()
    for line in lines:
        moment, *words = line.split()
        for word in words:
            counts[int(moment) // size * size, word] += 1
    return sorted(f"{begin}\t{word}\t{count}" for (begin, word), count in counts.items())


class Folders(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.log = self.folder / "log"
        self.log.mkdir()


class Results(Folders):
    def test_stream_wordcount_is_that_of_a_serial_run(self):
        lines = make_lines(LINES // 5)
        (self.log / "one").write_text("\n".join(lines) + "\n")
        expected = windowed_counts(lines, 10)
        for number, how in enumerate([["--launch=threads"], ["--launch=processes"],
                                      ["--launch=processes", "--pipeline.replicas=3", "--pipeline.share_processes=false"]]):
            with self.subTest(how):
                into = self.folder / f"counts{number}"
                launch.result("stream_wordcount", f"--pipeline.input={self.log}", f"--pipeline.into={into}", *how)
                self.assertEqual(expected, parts(into))
                self.assertFalse((into / "late").exists())


class Killed(Folders):
    def test_a_stream_whose_nodes_are_killed_has_every_result_once(self):
        kill_many(self, KILLS)


def kill_many(test, kills):
    """Kills random nodes while lines come; every window's result is that of a serial run, once."""
    lines = make_lines(LINES)
    into, until = test.folder / "counts", test.folder / "end"
    source = random.Random()
    flags = [f"--pipeline.input={test.log}", "--pipeline.follow", f"--pipeline.until={until}", f"--pipeline.into={into}",
             "--pipeline.checkpoint_ms=50", "--pipeline.share_processes=false", "--pipeline.restarts=1000",
             "--pipeline.restart_ms=1", "--launch=processes", "--seconds=10"]
    with launch.Launch("stream_wordcount", *flags) as run:
        written = 0
        for number in range(kills):
            share = lines[written:len(lines) * (number + 1) // kills]
            written += len(share)
            grow(test.log / "lines", share)
            wait_for_parts(test, run, into)
            run.signal(source.choice(["lines/0", "count/0", "count/1", "pipeline"]))
        until.touch()
        result = run.result()
        test.assertGreater(result["checkpoints"], 0)
        killed = run.shown.count("was killed by signal 9")
    test.assertGreaterEqual(killed, kills, run.shown)
    found = parts(into)
    test.assertEqual(windowed_counts(lines, 10), found)
    test.assertFalse((into / "late").exists())


def grow(path, lines):
    with open(path, "a") as file:
        file.write("".join(line + "\n" for line in lines))


def wait_for_parts(test, run, into):
    """Waits until one more part is visible, or nothing more can come before more lines do."""
    before = len(list(into.glob("part-*")))
    end = time.monotonic() + 1
    while len(list(into.glob("part-*"))) == before and time.monotonic() < end:
        time.sleep(random.random() / 20)


class KilledLong(Folders):
    def test_fifty_times(self):
        kill_many(self, 50)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    chosen = ["KilledLong"] if "--long" in sys.argv else ["Results", "Killed"]
    named = [word for word in sys.argv[1:] if not word.startswith("--long")]
    unittest.main(argv=[sys.argv[0], *(named or chosen)])
