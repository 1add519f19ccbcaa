"""A training whose processes get no more memory ends with a sentence. Usage: memory_test.py FOLDER

It runs alone: which process finds no memory first is a matter of time.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import launch


class Memory(unittest.TestCase):
    @unittest.skipIf("LP_SANITIZED" in os.environ, "a sanitizer needs more addresses than the limit allows")
    def test_a_training_without_memory_ends_with_a_sentence(self):
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                flags = ["--launch=processes", "--steps=100", "--hidden=20000", f"--directory={folder}/run"]
                process = subprocess.run(["prlimit", "--as=307200000", *launch.command("train", *flags)],
                                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=launch.PATIENCE)
                self.assertEqual(1, process.returncode, process.stderr)
                self.assertRegex(process.stderr, "no memory for a message|out of memory|bad_alloc|cannot start a thread")


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
