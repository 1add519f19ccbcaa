"""A stream on hosts, one of which is lost. Usage: pipeline_hosts_test.py FOLDER [--long]"""

import pathlib
import subprocess
import sys
import unittest

import launch
from hosts import OnHosts
from pipeline_test import LINES, OFTEN, grow, make_lines, parts, wait_for_parts, windowed_counts

TIMES = 1


class Lost(OnHosts):
    def test_a_stream_whose_host_is_lost_has_every_result_once(self):
        lose_many(self, TIMES)


def lose_many(test, times):
    lines = make_lines(LINES // 5)
    half = len(lines) // 2
    example = test.hosts.example("stream_wordcount")
    flags = [*(flag for flag in OFTEN if not flag.startswith("--launch")), "--pipeline.follow", "--pipeline.replicas=3",
             *test.hosts.flags(pipeline=["h1"], lines=["h2", "h3"], count=["h1", "h2", "h3"])]
    for number in range(times):
        log, into, until = (test.folder / f"{name}{number}" for name in ["log", "counts", "end"])
        log.mkdir()
        with test.subTest(number), launch.Launch(example, f"--pipeline.input={log}", f"--pipeline.until={until}",
                                                 f"--pipeline.into={into}", *flags) as run:
            grow(log / "lines", lines[:half])
            wait_for_parts(test, run, into, launch.PATIENCE)
            test.assertTrue(list(into.glob("part-*")), run.shown)
            test.hosts.lose("h2")
            grow(log / "lines", lines[half:])
            until.touch()
            run.result()
            test.assertIn("was lost with its host", run.shown)
        test.assertEqual(windowed_counts(lines, 10), parts(into))
        test.assertFalse((into / ".pending").exists())
        (test.folder / "lost-h2").unlink()
        subprocess.run(["rm", "-rf", str(test.hosts.disk("h2"))], check=True)
        test.hosts.boot("h2")


class Scratch(OnHosts):
    def test_a_scratch_folder_that_a_host_has_alone_ends_the_run_before_it_begins(self):
        (self.folder / "links").write_text("1 2\n2 1\n")
        for scratch, code in [(self.folder / "local", 1), (self.folder, 0)]:
            groups = {"pipeline": ["h1"], "lines": ["h1"], "pages": ["h2"], "sorted": ["h1"]}
            into = self.folder / f"ranks{code}"
            with launch.Launch(self.hosts.example("pagerank"), f"--pipeline.input={self.folder}/links", "--rounds=1",
                               f"--pipeline.into={into}", f"--pipeline.scratch={scratch}", "--pipeline.replicas=1",
                               "--pipeline.share_processes=false", *self.hosts.flags(**groups)) as run:
                self.assertEqual(code, run.wait(), run.shown)
            self.assertEqual(code == 0, into.exists())
            if code != 0:
                self.assertRegex(run.shown, r"pages/0 does not see the file \S+/local/\S+ of another node, but sort and cache")


class LostLong(OnHosts):
    def test_twenty_times(self):
        lose_many(self, 20)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    chosen = ["LostLong"] if "--long" in sys.argv else ["Lost", "Scratch"]
    unittest.main(argv=[sys.argv[0], *([word for word in sys.argv[1:] if word != "--long"] or chosen)])
