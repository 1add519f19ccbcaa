"""The commands of README.md work, and so do the programs of all pages. Usage: readme_test.py BUILD-FOLDER PROGRAM..."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import readme
import tree

# These are too large for this test; other tests run them.
RUN_ELSEWHERE = {
    "tools/demo": "by the test house/demo",
    "tools/test": "by .ci/run",
}


class Readme(unittest.TestCase):
    build = None
    programs = []

    def setUp(self):
        # A copy of the project as users have it after tools/demo, where commands may leave files behind.
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for entry in tree.ROOT.iterdir():
            if not entry.name.startswith("build"):
                os.symlink(entry, pathlib.Path(self.folder.name, entry.name))
        os.symlink(self.build, pathlib.Path(self.folder.name, "build"))

    def run_here(self, command):
        result = subprocess.run(command, shell=True, cwd=self.folder.name, timeout=100, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.assertEqual(0, result.returncode, f"$ {command}\n{result.stdout}")

    def test_every_command_works(self):
        self.assertGreater(len(readme.commands()), 0)
        for command in readme.commands():
            if command not in RUN_ELSEWHERE:
                with self.subTest(command):
                    self.run_here(command)

    def test_every_program_runs(self):
        self.assertEqual([name for name, _ in readme.programs()], [pathlib.Path(one).name for one in self.programs])
        self.assertIn("readme_1", [name for name, _ in readme.programs()])
        for program in self.programs:
            for launch in ["threads", "processes"]:
                with self.subTest(program=program, launch=launch):
                    self.run_here(f"{program} --launch={launch}")


if __name__ == "__main__":
    Readme.build = sys.argv[1]
    Readme.programs = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
