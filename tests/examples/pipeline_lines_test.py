"""Which lines and flags the examples of pipelines take. Usage: pipeline_lines_test.py FOLDER"""

import os
import pathlib
import shutil
import sys
import unittest

import launch
from pipeline_test import Folders, grow, parts


class Lines(Folders):
    def test_lines_that_do_not_fit_are_named(self):
        for name, line, said in [("kappa", "xx a 3", 'does not begin with its time: "xx" is no whole number'),
                                 ("kappa", "1 a z", 'does not end with its value: "z" is no whole number'),
                                 ("kappa", "1 a 5x", '"5x" is no whole number'),
                                 ("kappa", "1 a 99999999999999999999", '"99999999999999999999" is out of range'),
                                 ("kappa", "1 a", "no time, sensor and integer"),
                                 ("pagerank", "1 x", '"x" is no whole number'),
                                 ("pagerank", "1 2 3", "the numbers of two pages"),
                                 ("join", "1 7", "no time, key and value"),
                                 ("join", "x 7 a", '"x" is no whole number'),
                                 ("stream_wordcount", "1000a b", '"1000a" is no whole number'),
                                 ("stream_wordcount", "1.5 c", '"1.5" is no whole number'),
                                 ("stream_wordcount", "0x10 d", '"0x10" is no whole number'),
                                 ("sessions", "1.5 c", '"1.5" is no whole number')]:
            with self.subTest(line):
                (self.log / "lines").write_text(f"\n{line}\n")
                flags = [] if name == "kappa" else [f"--pipeline.into={self.folder}/none"]
                other = [f"--with={self.log}"] if name == "join" else []
                process = launch.run(name, f"--pipeline.replay={self.log}", *flags, *other)
                self.assertEqual(1, process.returncode)
                self.assertNotIn("restart 1 of", process.stderr)  # which would fail likewise
                self.assertIn(f"the record at byte 1 of {self.log}/lines", process.stderr)
                self.assertIn(said, process.stderr)

    def test_words_may_have_any_blanks_between_them(self):
        for name, text in [("once", "1 2\n2 1\n3 1\n"), ("often", "1\t2\r\n2  1\n 3 1 \n")]:
            (self.folder / name).write_text(text)
            launch.result("pagerank", f"--pipeline.input={self.folder}/{name}", f"--pipeline.into={self.folder}/{name}-ranks")
        self.assertEqual(parts(self.folder / "once-ranks"), parts(self.folder / "often-ranks"))
        self.assertEqual(3, len(parts(self.folder / "often-ranks")))
        (self.folder / "orders").write_text("1000 7 a blue  book\n")
        (self.folder / "payments").write_text("# none before\n1500  7 by card \n")
        launch.result("join", f"--pipeline.input={self.folder}/orders", f"--with={self.folder}/payments",
                      f"--pipeline.into={self.folder}/paid")
        self.assertEqual(["7\ta blue  book\tby card"], parts(self.folder / "paid"))

    def test_a_line_may_be_as_long_as_its_flag_says(self):
        (self.log / "lines").write_text("1000 a\n2000 " + (1 << 20) * "b" + "\n3000 a\n")
        end = self.folder / "end"
        end.touch()
        for followed, flags in enumerate([[], ["--pipeline.follow", f"--pipeline.until={end}"]]):
            into = self.folder / f"counts-{followed}"
            common = [f"--pipeline.input={self.log}", *flags, f"--pipeline.into={into}", "--pipeline.restarts=0"]
            with self.subTest(followed=followed):
                process = launch.run("stream_wordcount", *common, "--pipeline.longest-line-mib=1")
                self.assertEqual(1, process.returncode)
                self.assertIn("raise --pipeline.longest-line-mib", process.stderr)
                self.assertEqual([], parts(into))
                launch.result("stream_wordcount", *common, "--pipeline.longest-line-mib=2")
                self.assertEqual(["1", "2"], sorted(line.split("\t")[2] for line in parts(into)))
                shutil.rmtree(into)
                launch.result("stream_wordcount", *common, "--pipeline.longest-line-mib=1", "--pipeline.skip-records=1")
                self.assertEqual(["0\ta\t2"], parts(into))

    def test_a_line_of_a_gigabyte_is_refused_or_left_out(self):
        with open(self.log / "lines", "wb") as file:
            file.write(b"1000 a\n")
            file.seek(1 << 30, os.SEEK_CUR)  # a hole: it takes no place on the disk
            file.write(b"\n2000 a\n")
        common = [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/counts", "--launch=processes"]
        process = launch.run("stream_wordcount", *common)
        self.assertEqual(1, process.returncode)
        self.assertIn(f"the record at byte 7 of {self.log}/lines cannot be used: it is longer than 67108864 bytes", process.stderr)
        self.assertNotIn("restart 1 of", process.stderr)
        found = launch.result("stream_wordcount", *common, "--pipeline.skip-records=1")
        self.assertEqual(1, found["skipped"])
        self.assertEqual(["0\ta\t2"], parts(self.folder / "counts"))

    def test_inputs_may_have_alternatives_in_braces(self):
        for name in ["a", "b", "c"]:
            grow(self.log / name, [f"1000 {name}"])
        pattern = f"--pipeline.input={self.log}/{{a,b}}"
        launch.result("stream_wordcount", pattern, f"--pipeline.into={self.folder}/counts")
        self.assertEqual(["0\ta\t1", "0\tb\t1"], parts(self.folder / "counts"))
        (self.log / "d").mkdir()
        process = launch.run("stream_wordcount", f"--pipeline.input={self.log}/{{a,d}}", f"--pipeline.into={self.log}/d/counts")
        self.assertIn(f"would be input of the pipeline, which reads {self.log}/{{a,d}}", process.stderr)

    def test_flags_that_do_not_fit_are_refused(self):
        grow(self.log / "lines", ["1000 a"])
        (self.folder / "link").symlink_to("nothing")
        grow(self.folder / "file", ["no directory"])
        for name, flags, said in [
                ("stream_wordcount", [f"--pipeline.input={self.log}"], "results need a directory"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.replay={self.log}", "--pipeline.into=x"], "not both"),
                ("stream_wordcount", ["--pipeline.input=/dev/zero", f"--pipeline.into={self.folder}/x"], "/dev/zero is no regular file"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/file"], "file is no directory"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/file/x"], "file is no directory"),
                ("stream_wordcount", ["--pipeline.into=x"], "there is no input"),
                ("join", [f"--pipeline.input={self.log}", "--pipeline.into=x"], "--with=FILES"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", "--pipeline.until=x", "--pipeline.into=x"], "give --pipeline.follow"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", "--pipeline.idle-ms=5", "--pipeline.into=x"], "--pipeline.idle-ms has no effect"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.into={self.log}/x"], "would be input of the pipeline"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", "--pipeline.follow", f"--pipeline.into={self.log}"],
                 "would be input of the pipeline"),
                ("kappa", [], "--log=DIRECTORY"),
                ("kappa", [f"--log={self.folder}/x", f"--pipeline.into={self.folder}/x"], "have no meaning here"),
                ("kappa", [f"--log={self.folder}/x", f"--pipeline.replay={self.log}"], "not both"),
                ("kappa", ["--port=0", f"--pipeline.replay={self.log}"], "--port has no effect with --pipeline.replay"),
                ("kappa", ["--connections=2", f"--pipeline.replay={self.log}"], "--connections has no effect with"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/link"], "link is a link to nothing"),
                ("stream_wordcount", [f"--pipeline.input={self.log}/none", f"--pipeline.into={self.folder}/x"], "no input matches"),
                ("stream_wordcount", [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/x", f"--pipeline.from={self.log}"],
                 "has no complete checkpoint"),
                ("pagerank", [f"--pipeline.input={self.log}", f"--pipeline.into={self.folder}/x", f"--pipeline.scratch={self.log}/lines"],
                 "lines is no directory")]:
            with self.subTest(flags):
                process = launch.run(name, *flags, "--pipeline.restart_ms=3600000")  # none is worth a restart
                self.assertNotEqual(0, process.returncode)
                self.assertIn(said, process.stderr)
                self.assertNotIn("incarnation 2", process.stderr)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
