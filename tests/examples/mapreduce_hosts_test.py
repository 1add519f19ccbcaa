"""The examples of MapReduce with hosts and disks of their own: inputs on the disk of a host, a host that is lost, a disk that is full. Usage: mapreduce_hosts_test.py FOLDER [--long]

The hosts are network namespaces with disks of their own, which a real ssh reaches: needs root.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import launch
from hosts import NAMES, OnHosts
from mapreduce_test import coreutils, parts, sorted_lines, write_texts

BYTES = 20_000_000
NAMESAKES = 12  # of each file, which take time and no place on the disk
LOST = 1  # hosts, one after the other


def counts_of(*files):
    counts = coreutils("cat \"$@\" | tr -s '[:space:]' '\\n' | grep -av '^$' | sort | uniq -c", *files)
    return sorted(b"\t".join(reversed(line.split())) for line in counts.splitlines())


class Places(OnHosts):
    def test_tasks_run_where_their_input_is(self):
        """One host has half of the files, another one the other half, and the master's host none."""
        texts = self.folder / "texts"
        texts.mkdir()
        write_texts(texts, 4_000_000)
        files = sorted(texts.iterdir())
        for number, file in enumerate(files):
            (self.hosts.disk("h3" if number < len(files) / 2 else "h2") / file.name).write_bytes(file.read_bytes())
        # The first task is for the second worker. A worker that is much faster takes the other one's task, too.
        self.assertIn(0, self.remote_bytes("near", files, ["h2", "h3"], lambda remote: remote == 0))
        # A worker without any input takes tasks, too, unless the other one is much faster.
        self.assertLess(0, max(self.remote_bytes("far", files[len(files) // 2:], ["h1", "h2"], lambda remote: remote > 0)))

    def remote_bytes(self, into, files, workers, enough):
        """What runs read from other hosts, until it is enough."""
        found = []
        while len(found) < 10 and not (found and enough(found[-1])):
            output = self.folder / f"{into}{len(found)}"
            result = launch.result(self.hosts.example("wordcount"), f"--input={self.folder}/local", f"--into={output}",
                                   *self.hosts.flags(master=["h1"], worker=workers), *(["--split_mib=1"] if into == "far" else []))
            self.assertEqual(counts_of(*files), sorted_lines(parts(output)))
            found.append(result["counters"]["remote_bytes"])
        return found


class Lost(OnHosts):
    def test_when_a_host_is_lost_the_output_has_the_same_bytes(self):
        lose_many(self, LOST)


def lose_many(test, times):
    texts = test.folder / "texts"
    texts.mkdir()
    write_texts(texts, BYTES)
    for file in list(texts.iterdir()):
        for number in range(NAMESAKES):
            os.link(file, texts / f"{number}-{file.name}")
    source = random.Random()
    example = test.hosts.example("wordcount")
    flags = [f"--input={texts}", "--split_mib=1", "--memory_mib=48", "--workers=3", f"--scratch={test.folder}/local/runs",
             *test.hosts.flags(master=["h1"], worker=NAMES)]
    result = launch.result(example, f"--into={test.folder}/expected", *flags)
    expected, tasks = parts(test.folder / "expected"), result["map_tasks"] + result["reduce_tasks"]
    lost_outputs = hits = 0
    for number in range(3 * times):
        step = source.randrange(tasks // 4, tasks * 3 // 4)
        into = test.folder / f"output{number}"
        with test.subTest(step=step), launch.Launch(example, f"--into={into}", *flags) as run:
            try:
                run.wait_for_step(step)
                test.hosts.lose("h2")
            except launch.Ended:
                continue  # it had ended before
            lost_outputs += run.result()["lost_outputs"]
            hits += "was lost with its host" in run.shown and "while the program stopped" not in run.shown
            test.assertTrue(expected == parts(into), run.shown)
        (test.folder / "lost-h2").unlink()
        subprocess.run(["rm", "-rf", str(test.hosts.disk("h2"))], check=True)
        test.hosts.boot("h2")
        if hits == times:
            break
    test.assertEqual(times, hits)
    test.assertGreater(lost_outputs, 0)


@unittest.skipUnless(os.geteuid() == 0, "needs root, for a file system of its own")
class FullDisk(unittest.TestCase):
    """A file system of 8 MiB."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "texts").mkdir()
        write_texts(self.folder / "texts", 40_000_000)
        (self.folder / "disk").mkdir()

    def run_sort(self, *flags):
        """Its standard error, and the names of all that is on the disk then."""
        wrapper = self.folder / "full"
        wrapper.write_text(f"#!/bin/sh\nmount -t tmpfs -o size=8m lp {self.folder}/disk || exit 99\n"
                           f'{launch.FOLDER.absolute()}/sort "$@"\ncode=$?\nfind {self.folder}/disk -mindepth 1\nexit $code\n')
        wrapper.chmod(0o755)
        unshared = self.folder / "unshared"
        unshared.write_text(f'#!/bin/sh\nexec unshare --mount {wrapper} "$@"\n')
        unshared.chmod(0o755)
        process = launch.run(unshared, f"--input={self.folder}/texts", "--launch=processes", *flags)
        self.assertNotIn(process.returncode, [0, 99], process.stderr)
        self.assertIn("No space left on device", process.stderr)
        self.assertNotIn("restart 1", process.stderr)
        return process.stderr, process.stdout.splitlines()

    def test_in_a_spill(self):
        disk = self.folder / "disk"
        text, left = self.run_sort(f"--into={self.folder}/output", f"--scratch={disk}/runs")
        self.assertRegex(text, f"{disk}/runs/lp-[^/]*/worker-")
        self.assertEqual([f"{disk}/runs"], left)
        self.assertEqual([], list(self.folder.glob("output*")))

    def test_in_the_output(self):
        disk = self.folder / "disk"
        text, left = self.run_sort(f"--into={disk}/output", f"--scratch={self.folder}/runs")
        self.assertIn(f"{disk}/output.partial/attempts/reduce-", text)
        self.assertEqual([], left)
        self.assertEqual([], list((self.folder / "runs").iterdir()))


class LostLong(OnHosts):
    def test_twenty_times(self):
        lose_many(self, 20)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    chosen = ["LostLong"] if "--long" in sys.argv else ["Places", "Lost", "FullDisk"]
    unittest.main(argv=[sys.argv[0], *([word for word in sys.argv[1:] if word != "--long"] or chosen)])
