"""The examples of pipelines against serial runs, also when their nodes are killed. Usage: pipeline_test.py FOLDER [--long]"""

import collections
import contextlib
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
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


    def test_a_line_without_a_time_is_told(self):
        (self.log / "one").write_text("a b c\n\n1000 d\nx y\n")
        flags = [f"--pipeline.input={self.log}", "--pipeline.restarts=0"]
        with launch.Launch("stream_wordcount", *flags, f"--pipeline.into={self.folder}/none") as run:
            self.assertEqual(1, run.wait())
            self.assertIn("a line has no time in front of its words", run.shown)
        result = launch.result("stream_wordcount", *flags, f"--pipeline.into={self.folder}/counts",
                               "--pipeline.skip_records=2")
        self.assertEqual(2, result["skipped"])
        self.assertEqual(["0\td\t1"], parts(self.folder / "counts"))

    def test_sessions_are_those_of_a_serial_run(self):
        source = random.Random(2)
        clicks, moment = [], 0
        for _ in range(LINES // 5):
            moment += source.randrange(200)
            clicks.append((max(0, moment - source.randrange(900)), f"user{source.randrange(300)}"))
        (self.log / "clicks").write_text("".join(f"{when} {user}\n" for when, user in clicks))
        by_user = collections.defaultdict(list)
        for when, user in clicks:
            by_user[user].append(when)
        expected = []
        for user, times in by_user.items():
            times.sort()
            begin = 0
            for i in range(1, len(times) + 1):
                if i == len(times) or times[i] - times[i - 1] >= 20_000:
                    expected.append(f"{user}\t{times[begin]}\t{times[i - 1] - times[begin]}\t{i - begin}")
                    begin = i
        for how in ["threads", "processes"]:
            with self.subTest(how):
                into = self.folder / how
                launch.result("sessions", f"--pipeline.input={self.log}", f"--pipeline.into={into}", "--gap=20",
                              f"--launch={how}")
                self.assertEqual(sorted(expected), parts(into))

    def test_pagerank_has_the_bits_of_a_serial_run(self):
        source = random.Random(3)
        links = [(source.randrange(500), min(int(source.paretovariate(1)), 499)) for _ in range(3000)]
        (self.log / "links").write_text("# from to\n" + "".join(f"{a} {b}\n" for a, b in links))
        pages = sorted({page for link in links for page in link})
        out = collections.defaultdict(list)
        for a, b in links:
            out[a].append(b)
        ranks = dict.fromkeys(pages, 1.0)
        for _ in range(5):
            sums = dict.fromkeys(pages, 0.0)
            for page in pages:
                for to in out[page]:
                    sums[to] += ranks[page] / len(out[page])
            ranks = {page: 0.15 + 0.85 * total for page, total in sums.items()}
        for number, how in enumerate([["--launch=threads"], ["--launch=processes", "--pipeline.replicas=3"]]):
            with self.subTest(how):
                into = self.folder / f"ranks{number}"
                launch.result("pagerank", f"--pipeline.input={self.log}", f"--pipeline.into={into}", "--rounds=5", *how)
                self.assertEqual(ranks, {int(page): float(rank) for page, rank in map(str.split, parts(into))})

    def test_kmeans_has_the_bits_of_a_serial_run(self):
        source = random.Random(4)
        middles = [(0, 0), (5, 1), (2, 7), (9, 9)]
        points = [[source.gauss(x, 1) for x in middles[i % 4]] for i in range(2000)]
        (self.log / "points").write_text("".join(f"{i} {x!r} {y!r}\n" for i, (x, y) in enumerate(points)))
        centres = points[:4]
        for _ in range(6):
            totals = [[0.0, 0.0, 0] for _ in centres]
            for block in range(16):
                sums = [[0.0, 0.0, 0] for _ in centres]
                for x, y in points[block::16]:
                    nearest = min(range(4), key=lambda i: (x - centres[i][0]) * (x - centres[i][0]) + (y - centres[i][1]) * (y - centres[i][1]))
                    sums[nearest] = [sums[nearest][0] + x, sums[nearest][1] + y, sums[nearest][2] + 1]
                totals = [[a + b for a, b in zip(total, more)] for total, more in zip(totals, sums)]
            centres = [(x / count, y / count) for x, y, count in totals]
        expected = [(i, *centres[i], totals[i][2]) for i in range(4)]
        for number, how in enumerate([["--launch=threads"], ["--launch=processes", "--pipeline.replicas=3"]]):
            with self.subTest(how):
                into = self.folder / f"centres{number}"
                launch.result("kmeans", f"--pipeline.input={self.log}", f"--pipeline.into={into}", "--clusters=4",
                              "--rounds=6", *how)
                found = [(int(i), float(x), float(y), int(count)) for i, x, y, count in map(str.split, parts(into))]
                self.assertEqual(expected, sorted(found))

    def test_points_that_do_not_fit_are_named(self):
        for text, said in [("0 1 2\n1 nan 2\n", "points cannot be used: the coordinate nan is not finite"),
                           ("0 1 2\n1 1 2x\n", "the record at byte 6 of"),
                           ("0 1 2\n1 1\n", "point 1 has 1 coordinates, and point 0 has 2"),
                           ("0 1 2\n1 3 4\n7 1 2 3\n", "point 7 has 3 coordinates, and point 0 has 2"),
                           ("0 1 2\n1 3 4\n5 1 2\n5 3 4\n", "two points have the number 5"),
                           ("0 1 2\n5\n", "the point 5 has no coordinates"), ("5 1 2\n", "nothing to begin with"),
                           ("1 1 2\n2 3 4\n", "there is no point 0"), ("0 1 2\n", "there is no point 1")]:
            with self.subTest(text):
                (self.log / "points").write_text(text)
                process = launch.run("kmeans", f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/centres",
                                     "--clusters=2", "--launch=processes")
                self.assertEqual(1, process.returncode)
                self.assertIn(said, process.stderr)
                self.assertNotIn("restart 1 of", process.stderr)  # which would fail likewise

    def test_joins_are_those_of_sqlite(self):
        source = random.Random(6)
        database = sqlite3.connect(":memory:")
        for name in ["orders", "payments"]:
            rows = [(max(0, 20 * i - source.randrange(900)), f"k{source.randrange(LINES // 20)}", f"{name}{i}") for i in range(LINES // 10)]
            (self.folder / name).write_text("# time key value\n" + "".join(f"{when} {key} {value}\n" for when, key, value in rows))
            database.execute(f"create table {name} (time integer, key text, value text)")
            database.executemany(f"insert into {name} values (?, ?, ?)", rows)
        for seconds, condition in [(0, ""), (10, "and orders.time / 10000 = payments.time / 10000")]:
            rows = database.execute(f"select orders.key, orders.value, payments.value from orders join payments on orders.key = payments.key {condition}")
            expected = sorted("\t".join(row) for row in rows)
            self.assertGreater(len(expected), 100)
            for number, how in enumerate([["--launch=threads"], ["--launch=processes", "--pipeline.replicas=3", "--pipeline.memory_mib=1"]]):
                with self.subTest(seconds=seconds, how=how):
                    into = self.folder / f"joined{seconds}-{number}"
                    launch.result("join", f"--pipeline.input={self.folder}/orders", f"--with={self.folder}/payments",
                                  f"--pipeline.into={into}", f"--seconds={seconds}", *how)
                    self.assertEqual(expected, parts(into))

    def test_a_replay_of_the_log_makes_the_table_of_the_stream(self):
        source = random.Random(5)
        lines = [f"{50 * i - source.randrange(4000)} s{source.randrange(50)} {source.randrange(-1000, 1000)}\n" for i in range(LINES // 5)]
        half = len(lines) // 2
        streamed = self.kappa_stream("all", lines)
        self.assertEqual(table_of(lines), streamed)
        for how in ["threads", "processes"]:
            again = launch.result("kappa", f"--pipeline.replay={self.folder / 'all'}", f"--launch={how}")
            self.assertEqual(streamed, table_in(again))
        self.kappa_stream("old", lines[:half])
        self.assertEqual(streamed, self.kappa_stream("new", lines[half:], f"--batch={self.folder / 'old'}"))

    def test_a_replay_of_the_log_makes_the_table_of_a_stream_with_late_lines(self):
        source = random.Random(7)
        lines = [f"{50 * i + 400_000 - (300_000 if source.random() < 0.02 else 0)} s{source.randrange(50)} 1\n" for i in range(LINES // 5)]
        streamed = self.kappa_stream("late", lines)
        self.assertNotEqual(table_of(lines), streamed)
        self.assertEqual(streamed, table_in(launch.result("kappa", f"--pipeline.replay={self.folder / 'late'}")))

    def test_a_stream_that_was_stopped_goes_on_with_its_log(self):
        lines, kept = [f"{1000 * i} s{i % 7} 1\n" for i in range(2000)], self.folder / "kept"
        log = self.folder / "stopped"
        with launch.Launch("kappa", f"--log={log}", "--launch=processes", "--pipeline.checkpoint_ms=10") as run:
            with connected(log) as connection:
                connection.sendall("".join(lines[:1000]).encode())
                checkpoints = pathlib.Path(run.directory, "checkpoints")
                while len((log / "lines").read_text().splitlines()) < 1000 or not any(checkpoints.glob("*/MANIFEST")):
                    time.sleep(0.01)
                run.stop()
            shutil.copytree(run.directory, kept, symlinks=True)
        (log / ".port").unlink()
        for flag in [f"--resume={kept}", f"--pipeline.from={kept}"]:
            process = launch.run("kappa", *([] if "resume" in flag else [f"--log={log}"]), flag)
            self.assertNotEqual(0, process.returncode)
            self.assertIn("the table of kappa is in memory alone", process.stderr)
        self.assertEqual(table_of(lines), self.kappa_stream("stopped", lines[1000:]))
        process = launch.run("kappa", f"--log={log}")
        self.assertNotEqual(0, process.returncode)
        self.assertIn(f"the stream of the log {log} has ended", process.stderr)

    def kappa_stream(self, log, lines, *flags):
        """The result of a stream of these lines over TCP, whose raw log is kept."""
        log = self.folder / log
        with launch.Launch("kappa", f"--log={log}", "--launch=processes", "--pipeline.checkpoint_ms=50", *flags) as run:
            with connected(log) as connection:
                connection.sendall("".join(lines).encode())
            return table_in(run.result())

    def test_a_run_goes_on_with_other_replicas(self):
        lines = make_lines(LINES // 5)
        into, until, log = self.folder / "counts", self.folder / "end", self.log / "lines"
        flags = [f"--pipeline.input={self.log}", "--pipeline.follow", f"--pipeline.until={until}", f"--pipeline.into={into}",
                 "--pipeline.checkpoint_ms=50", "--launch=processes"]
        pending, before = into / ".pending", []
        for number, replicas in enumerate([2, 5, 1]):
            grow(log, lines[number * len(lines) // 3:(number + 1) * len(lines) // 3])
            if number == 2:
                until.touch()
            with launch.Launch("stream_wordcount", *flags, f"--pipeline.replicas={replicas}", *before) as run:
                if number < 2:
                    wait_for_parts(self, run, into, launch.PATIENCE)
                    run.stop()
                    self.assertIn(f"the run keeps {pending}: `lp rm ", run.shown)
                else:
                    run.result()
                self.assertEqual(number < 2, pending.exists())
                kept = self.folder / f"run{number}"
                shutil.copytree(run.directory, kept)
                before = [f"--pipeline.from={kept}"]
        self.assertEqual(windowed_counts(lines, 10), parts(into))

    def test_a_checkpoint_that_cannot_be_saved_is_reported_once_and_explained(self):
        into, until = self.folder / "counts", self.folder / "end"
        flags = [f"--pipeline.input={self.log}", "--pipeline.follow", f"--pipeline.until={until}", f"--pipeline.into={into}",
                 "--pipeline.checkpoint_ms=1", "--launch=processes"]
        lines = make_lines(1000)
        grow(self.log / "lines", lines)
        with launch.Launch("stream_wordcount", *flags) as run:
            wait_for_parts(self, run, into, launch.PATIENCE)
            checkpoints = pathlib.Path(run.directory) / "checkpoints"
            is_file = False
            while not is_file:
                shutil.rmtree(checkpoints, ignore_errors=True)
                with contextlib.suppress(FileExistsError):  # a cut may be made meanwhile
                    checkpoints.touch(exist_ok=False)
                    is_file = True
            run.wait_for_text("further failures are not reported")
            lp = launch.FOLDER.parent / "tools" / "lp" / "lp"
            why = subprocess.run([lp, "why", run.directory], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("unsaved: ", why.stdout)
            checkpoints.unlink()
            until.touch()
            run.result()
            self.assertEqual(0, run.shown.count("cannot remove"), run.shown)
        self.assertEqual(windowed_counts(lines, 10), parts(into))

    def assert_refused(self, flags, earlier, said, program="stream_wordcount"):
        process = launch.run(program, *flags, f"--pipeline.from={earlier}")
        self.assertNotEqual(0, process.returncode)
        self.assertIn(said, process.stderr)

    def test_a_run_is_resumed_once_and_after_its_end(self):
        into, until, first = self.folder / "counts", self.folder / "end", self.folder / "first"
        flags = [f"--pipeline.input={self.log}", "--pipeline.follow", f"--pipeline.until={until}", f"--pipeline.into={into}",
                 "--pipeline.checkpoint_ms=50", "--launch=processes"]
        lines = make_lines(1000)
        grow(self.log / "lines", lines[:500])
        with launch.Launch("stream_wordcount", *flags) as run:
            wait_for_parts(self, run, into, launch.PATIENCE)
            at_once = launch.run("stream_wordcount", f"--resume={run.directory}")
            self.assertNotEqual(0, at_once.returncode)
            self.assertIn("has not ended", at_once.stderr)
            self.assert_refused(flags, run.directory, "has not ended")
            run.stop()
            shutil.copytree(run.directory, first, symlinks=True)
        self.assert_refused([*flags, "--seconds=7"], first, "--seconds is 7, but was 10 in the run whose state is taken over")
        self.assert_refused(flags, first, "is a run of the program stream_wordcount", program="sessions")
        grow(self.log / "lines", lines[500:])
        until.touch()
        with launch.Launch("stream_wordcount", f"--resume={first}") as run:
            run.result()
            self.assert_refused(flags, run.directory, "has come to the end of its input")
        expected = parts(into)
        again = launch.run("stream_wordcount", f"--resume={first}")
        self.assertEqual(1, again.returncode)
        self.assertIn("another run has gone on from it before", again.stderr)
        self.assertEqual(expected, parts(into))

    def test_a_run_that_goes_on_from_another_leaves_the_files_of_its_checkpoint(self):
        into, kept = self.folder / "counts", self.folder / "kept"
        flags = [f"--pipeline.input={self.log}", "--pipeline.follow", f"--pipeline.into={into}", "--pipeline.replicas=1",
                 "--launch=processes"]
        grow(self.log / "lines", make_lines(1000))
        with launch.Launch("stream_wordcount", *flags, "--pipeline.checkpoint_ms=50") as run:
            wait_for_parts(self, run, into, launch.PATIENCE)
            run.stop()
            shutil.copytree(run.directory, kept, symlinks=True)
        before = sorted((into / ".pending").iterdir())
        with launch.Launch("stream_wordcount", *flags, "--pipeline.checkpoint_ms=1000000", f"--pipeline.from={kept}") as run:
            while not run.has("count/0"):
                time.sleep(0.01)
            run.stop()
        self.assertLessEqual({one.name for one in before if one.name.startswith("part-")},
                             {one.name for one in [*(into / ".pending").iterdir(), *into.glob("part-*")]})
        lp = launch.FOLDER.parent / "tools" / "lp" / "lp"
        subprocess.run([lp, "rm", kept], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.assertFalse((into / ".pending").exists())


def table_in(result):
    return {name: result[name] for name in ["rows", "hash"]}


def table_of(lines):
    """What kappa makes of lines of which none is late."""
    rows = collections.defaultdict(lambda: [0, 0])
    for line in lines:
        moment, sensor, value = line.split()
        row = rows[sensor, int(moment) // 60_000 * 60_000]
        row[0] += 1
        row[1] += int(value)
    text = "".join(f"{sensor} {minute} {count} {total}\n" for (sensor, minute), (count, total) in sorted(rows.items()))
    hashed = 0xcbf29ce484222325
    for byte in text.encode():
        hashed = (hashed ^ byte) * 0x100000001b3 % 2**64
    return {"rows": len(rows), "hash": hashed}


class Killed(Folders):
    def test_a_stream_whose_nodes_are_killed_has_every_result_once(self):
        kill_stream(self, KILLS)

    def test_a_batch_whose_nodes_are_killed_has_every_result_once(self):
        kill_batch(self, KILLS)

    def test_a_service_gets_every_result_once(self):
        kill_table(self, KILLS)


OFTEN = ["--pipeline.checkpoint_ms=50", "--pipeline.share_processes=false", "--pipeline.restarts=1000",
         "--pipeline.restart_ms=1", "--launch=processes"]


def records_of(result):
    """How many records went from each stage to each other one."""
    return {(edge["from"], edge["to"]): edge["records"] for edge in result["edges"]}


def kill_stream(test, kills):
    """Kills random nodes while lines come; every window's result is that of a serial run, once."""
    lines = make_lines(LINES)
    into, until = test.folder / "counts", test.folder / "end"
    source = random.Random()
    with launch.Launch("stream_wordcount", f"--pipeline.input={test.log}", "--pipeline.follow", f"--pipeline.until={until}",
                       f"--pipeline.into={into}", "--seconds=10", *OFTEN) as run:
        written = 0
        for number in range(kills):
            share = lines[written:len(lines) * (number + 1) // kills]
            written += len(share)
            grow(test.log / "lines", share)
            if number % 2 == 0:
                wait_for_parts(test, run, into)  # else the lines are on their way
            time.sleep(source.random() / 5)
            run.signal(source.choice(["lines/0", "count/0", "count/1", "pipeline"]))
        until.touch()
        result = run.result()
        killed = run.shown.count("was killed by signal 9")
    test.assertGreater(result["checkpoints"], 0)
    test.assertEqual({("lines", "count"): sum(len(line.split()) - 1 for line in lines)}, records_of(result))
    test.assertGreaterEqual(killed, kills * 5 // 6, run.shown)  # some hit a process that is going back, and so ends anyway
    test.assertEqual(windowed_counts(lines, 10), parts(into))
    test.assertFalse((into / "late").exists())
    test.assertFalse((into / ".pending").exists())


def kill_table(test, kills):
    """Kills random nodes of kappa, whose results go into a service."""
    lines = [f"{50 * i} s{i % 50} {i % 1000}\n" for i in range(LINES)]
    log = test.folder / "table-log"
    source = random.Random()
    with launch.Launch("kappa", f"--log={log}", *OFTEN) as run:
        with connected(log) as connection:
            for number in range(kills):
                connection.sendall("".join(lines[len(lines) * number // kills:len(lines) * (number + 1) // kills]).encode())
                time.sleep(source.random() / 5)
                run.signal(source.choice(["lines/0", "totals/0", "totals/1", "pipeline"]))
        test.assertEqual(table_of(lines), table_in(run.result()))
        test.assertGreaterEqual(run.shown.count("was killed by signal 9"), kills * 5 // 6)


def kill_batch(test, kills):
    """Kills random nodes of pagerank, whose stages keep sorted runs on disk; the ranks have the same bits."""
    source = random.Random()
    links = [(source.randrange(5000), min(int(source.paretovariate(1)), 4999)) for _ in range(LINES)]
    (test.log / "links").write_text("".join(f"{a} {b}\n" for a, b in links))
    expected = launch.result("pagerank", f"--pipeline.input={test.log}", f"--pipeline.into={test.folder / 'expected'}")
    into = test.folder / "ranks"
    hits = 0
    with launch.Launch("pagerank", f"--pipeline.input={test.log}", f"--pipeline.into={into}", *OFTEN) as run:
        try:
            for _ in range(kills):
                time.sleep(source.random() / 3)
                run.signal(source.choice(["lines/0", "pages/1", "round1/0", "round5/1", "round10/0", "pipeline"]))
                hits += 1
        except launch.Ended:
            pass
        code = run.wait()
        late = "while the program stopped" in run.shown  # the ranks were there already
        test.assertTrue(code == 0 or late, run.shown)
        if code == 0:
            test.assertEqual(records_of(expected), records_of(run.last_line()))
    test.assertGreater(hits, 0)
    test.assertEqual(parts(test.folder / "expected"), parts(into))


def connected(log):
    """A connection to the listener of this log, when it listens."""
    while not (log / ".port").exists():
        time.sleep(0.01)
    return socket.create_connection(("127.0.0.1", int((log / ".port").read_text())))


def grow(path, lines):
    with open(path, "a") as file:
        file.write("".join(line + "\n" for line in lines))


def wait_for_parts(test, run, into, most=1):
    """Waits until one more part is visible, or for so many seconds: perhaps nothing more can come before more lines do."""
    before = len(list(into.glob("part-*")))
    end = time.monotonic() + most
    while len(list(into.glob("part-*"))) == before and time.monotonic() < end:
        time.sleep(random.random() / 20)


class KilledLong(Folders):
    def test_a_stream_sixty_times(self):
        kill_stream(self, 60)

    def test_a_service_fifty_times(self):
        kill_table(self, 50)

    def test_a_batch_ten_times(self):
        for number in range(10):
            self.setUp()
            with self.subTest(number):
                kill_batch(self, 5)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    chosen = ["KilledLong"] if "--long" in sys.argv else ["Results", "Killed"]
    named = [word for word in sys.argv[1:] if not word.startswith("--long")]
    unittest.main(argv=[sys.argv[0], *(named or chosen)])
