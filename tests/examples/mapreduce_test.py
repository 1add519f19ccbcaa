"""The examples of MapReduce against coreutils and SQLite, and when their processes are killed. Usage: mapreduce_test.py FOLDER [--kills=N]"""

import csv
import math
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import launch

KILLS = 2
BYTES = 2_000_000 if "LP_SANITIZED" in os.environ else 16_000_000
LONGER = 8  # a job with so many times as many bytes still runs when a kill comes
SMALL = ["--split_mib=1", "--memory_mib=48"]  # many tasks


def write_texts(folder, size, seed=1):
    """Files of words by Zipf's law, with some bytes that are no UTF-8, and empty files among them."""
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(1, 12))).encode() for _ in range(20_000)]
    words[50] = b"\xff\xfe\x80"
    block = source.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=50_000)
    for number in range(3):
        with open(folder / f"text{number}.txt", "wb") as file:
            while file.tell() < size // 3:
                at = source.randrange(len(block) - 5000)
                file.write(b" ".join(block[at:at + 5000]) + b"\n\t\n" + str(source.random()).encode() + b"\n")
    (folder / "empty.txt").touch()


def coreutils(command, *files):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(["sh", "-c", command, "sh", *map(str, files)], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "LC_ALL": "C", "TMPDIR": folder}).stdout


def parts(folder):
    return b"".join(part.read_bytes() for part in sorted(pathlib.Path(folder).glob("part-*")))


def sorted_lines(text):
    return sorted(text.splitlines())


class Files(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.input = self.folder / "input"
        self.input.mkdir()

    def run_job(self, name, *flags, prefix="", into="output", **more):
        into = self.folder / into
        result = launch.result(name, f"--{prefix}input={self.input}", f"--{prefix}into={into}", *flags, **more)
        self.assertFalse(pathlib.Path(f"{into}.partial").exists())
        return parts(into), result


class Results(Files):
    def test_wordcount_is_that_of_coreutils(self):
        write_texts(self.input, BYTES)
        expected = coreutils("cat \"$@\" | tr -s '[:space:]' '\\n' | grep -av '^$' | sort | uniq -c", *sorted(self.input.iterdir()))
        expected = sorted(b"\t".join(reversed(line.split())) for line in expected.splitlines())
        for number, how in enumerate([["--launch=threads"], ["--launch=processes"],
                                      ["--launch=processes", "--workers=1..3", "--partitions=1", *SMALL]]):
            with self.subTest(how):
                found, result = self.run_job("wordcount", *how, into=f"output{number}")
                self.assertEqual(expected, sorted_lines(found))
                self.assertEqual(sum(int(line.split()[1]) for line in expected), result["counters"]["pairs"])

    def test_wordcount_of_the_licenses(self):
        self.input = pathlib.Path("/usr/share/common-licenses")
        expected = coreutils("cat \"$@\"/* | tr -s '[:space:]' '\\n' | grep -av '^$' | sort | uniq -c", self.input)
        found, _ = self.run_job("wordcount", "--launch=processes")
        self.assertEqual(sorted(b"\t".join(reversed(line.split())) for line in expected.splitlines()), sorted_lines(found))

    def test_sort_is_that_of_coreutils(self):
        write_texts(self.input, BYTES)
        source = random.Random(2)
        with open(self.input / "lines", "wb") as file:
            for _ in range(BYTES // 100):
                file.write(source.randbytes(source.randrange(100)).replace(b"\n", b"") + b"\n")
        expected = coreutils("cat \"$@\" | sort", *sorted(self.input.iterdir()))
        for number, how in enumerate([["--launch=threads"], ["--launch=processes", "--partitions=7", *SMALL]]):
            with self.subTest(how):
                self.assertTrue(expected == self.run_job("sort", *how, into=f"output{number}")[0])

    def test_inverted_index_is_that_of_sqlite(self):
        write_texts(self.input, BYTES // 20)
        database = sqlite3.connect(":memory:")
        database.execute("create table words (word blob, file text)")
        for path in sorted(self.input.iterdir()):
            database.executemany("insert into words values (?, ?)", ((word, str(path)) for word in path.read_bytes().split()))
        rows = database.execute("select word, file, count(*) from words group by word, file order by word, file")
        expected = [b"%s\t%s\t%d" % (word, file.encode(), count) for word, file, count in rows]
        found, _ = self.run_job("inverted_index", "--launch=processes", *SMALL)
        self.assertEqual(expected, sorted(found.splitlines(), key=lambda line: line.split(b"\t")[:2]))

    def test_csv_groupby_is_that_of_sqlite(self):
        source = random.Random(3)
        names = ["plain", "with, comma", 'with "quotes"', "with\nline end", "with\r\nboth", "", "ünï"]
        database = sqlite3.connect(":memory:")
        database.execute("create table sales (id integer, shop text, value real)")
        for number in range(3):
            with open(self.input / f"{number}.csv", "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "shop", "value"])
                rows = [(i, source.choice(names), source.randrange(-1000, 1000) / 4) for i in range(BYTES // 400)]
                writer.writerows(rows)
                database.executemany("insert into sales values (?, ?, ?)", rows)
        rows = database.execute("select shop, count(*), sum(value), min(value), max(value) from sales group by shop order by shop")
        expected = "".join("\t".join([shop, *(repr(number).removesuffix(".0") for number in numbers)]) + "\n" for shop, *numbers in rows)
        memory = [f"--job.{flag.removeprefix('--')}" for flag in SMALL]
        for number, how in enumerate([["--launch=threads"], ["--launch=processes", *memory]]):
            with self.subTest(how):
                found, _ = self.run_job("csv_groupby", "--key=1", "--value=2", "--job.partitions=1", *how, prefix="job.",
                                        into=f"output{number}")
                self.assertEqual(expected, found.decode())

    def test_csv_groupby_leaves_rows_without_a_finite_number_out(self):
        (self.input / "rows.csv").write_text("key,value\na,1\na,inf\na,-inf\na,+2\na,\na,1e400\n")
        found, _ = self.run_job("csv_groupby", "--job.partitions=1", "--job.skip-records=4", prefix="job.")
        self.assertEqual("a\t2\t3\t1\t2\n", found.decode())

    def test_sums_of_csv_groupby_are_the_same_for_any_tasks(self):
        source = random.Random(4)
        values = [source.uniform(-1, 1) * 10 ** source.randrange(-9, 10) for _ in range(100_000)]
        (self.input / "rows.csv").write_text("key,value\n" + "".join(f"a,{value!r}\n" for value in values))
        expected = f"a\t{len(values)}\t{math.fsum(values)!r}\t{min(values)!r}\t{max(values)!r}\n"
        for number, memory in enumerate([[], [f"--job.{flag.removeprefix('--')}" for flag in SMALL]]):
            found, _ = self.run_job("csv_groupby", "--job.partitions=1", *memory, prefix="job.", into=f"output{number}")
            self.assertEqual(expected, found.decode())

    @unittest.skipIf("LP_SANITIZED" in os.environ, "sanitizers need memory of their own")
    def test_a_worker_keeps_to_its_memory(self):
        write_texts(self.input, LONGER * BYTES)
        measure = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        for name in ["sort", "inverted_index"]:
            with self.subTest(name):
                job = launch.command(name, "--launch=processes", f"--directory={self.folder}/{name}-run",
                                     f"--input={self.input}", f"--into={self.folder}/{name}", "--memory_mib=48", "--split_mib=16")
                peak = subprocess.run([sys.executable, "-c", measure, *job], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      check=True)
                self.assertLess(int(peak.stdout), 48 << 10)  # KiB
                self.assertGreater(int(peak.stdout), 8 << 10)  # so it was the workers' memory

    def test_a_record_of_a_gigabyte_is_refused_or_skipped(self):
        with open(self.input / "lines", "wb") as file:
            file.write(b"one\n")
            file.seek(1 << 30, os.SEEK_CUR)  # a hole: it takes no place on the disk
            file.write(b"\ntwo\n")
        flags = ["--launch=processes", f"--input={self.input}", f"--into={self.folder}/output"]
        process = launch.run("wordcount", *flags)
        self.assertNotEqual(0, process.returncode)
        self.assertIn(f"map failed on the record at byte 4 of {self.input}/lines", process.stderr)
        self.assertIn("it is longer than 56623104 bytes: raise --memory-mib, of which a record gets a quarter", process.stderr)
        found, result = self.run_job("wordcount", "--launch=processes", "--skip_records=1")
        self.assertEqual([b"one\t1", b"two\t1"], sorted_lines(found))
        self.assertEqual(1, result["counters"]["skipped"])

    def test_an_output_may_end_with_a_slash(self):
        (self.input / "lines").write_text("one\n")
        launch.result("wordcount", f"--input={self.input}", f"--into={self.folder}/new/")
        self.assertEqual(b"one\t1\n", parts(self.folder / "new"))
        launch.run("wordcount", f"--input={self.folder}/none", f"--into={self.folder}/other/")
        self.assertEqual(["input", "new"], sorted(one.name for one in self.folder.iterdir()))

    def test_what_does_not_fit_is_named(self):
        (self.input / "lines").write_text("one\n")
        (self.folder / "there").mkdir()
        (self.folder / "link").symlink_to("nothing")
        for flags, sentence in [([f"--input={self.input}", f"--into={self.folder}/there"], "there exists: remove it"),
                                ([f"--input={self.input}", f"--into={self.folder}/link"], "link is a link: remove it"),
                                (["--input=/proc/cpuinfo", f"--into={self.folder}/a"], "/proc/cpuinfo has bytes, but no size"),
                                ([f"--input={self.folder}/none*", f"--into={self.folder}/a"], "no input matches"),
                                ([f"--input={self.input}"], "needs an output directory"),
                                ([f"--input={self.input}", f"--into={self.folder}/a", f"--scratch={self.input}/lines"],
                                 "cannot be made: Not a directory")]:
            with self.subTest(flags):
                process = launch.run("wordcount", "--launch=processes", *flags)
                self.assertNotEqual(0, process.returncode)
                self.assertIn(sentence, process.stderr)
                self.assertNotIn("restart 1", process.stderr)  # which would fail likewise
        self.assertEqual([], list((self.folder / "there").iterdir()))


class Killed(Files):
    def test_whatever_is_killed_the_output_has_the_same_bytes(self):
        kill_many(self, KILLS)


def kill_many(test, kills):
    """Kills a worker and the master at random moments; the output has the same bytes each time."""
    write_texts(test.input, LONGER * BYTES)
    source = random.Random()
    for name in ["wordcount", "sort"]:
        expected, result = test.run_job(name, "--launch=threads", *SMALL, into=f"{name}-expected")
        tasks = result["map_tasks"] + result["reduce_tasks"]
        for victim in ["worker/1", "master"]:
            hits = 0
            for number in range(10 * kills):
                hits += kill(test, name, victim, source.randrange(1, tasks * 3 // 4), f"{name}-{victim.partition('/')[0]}-{number}", expected)
                if hits == kills:
                    break
            test.assertEqual(kills, hits)


def kill(test, name, victim, step, into, expected):
    """Kills one node; the output has the same bytes. Returns whether the job was still running then."""
    flags = ["--launch=processes", "--restarts=40", f"--input={test.input}", f"--into={test.folder / into}", *SMALL]
    with test.subTest(name=name, victim=victim, step=step), launch.Launch(name, *flags) as run:
        try:
            run.wait_for_step(step)
            run.signal(victim)
        except launch.Ended:
            pass
        code = run.wait()
        hit = f"{victim}: was killed by signal 9" in run.shown
        late = "while the program stopped" in run.shown  # its output was there already
        test.assertTrue(code == 0 or late, run.shown)
        test.assertTrue(expected == parts(test.folder / into), run.shown)
        return hit and not late
    return False


class KilledLong(Files):
    def test_twenty_times(self):
        kill_many(self, 20)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    chosen = ["KilledLong"] if "--long" in sys.argv else ["Results", "Killed"]
    named = [word for word in sys.argv[1:] if not word.startswith("--long")]
    unittest.main(argv=[sys.argv[0], *(named or chosen)])
