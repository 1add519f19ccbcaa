"""A benchmark whose run fails names the first cause, and ends with 1. Usage: flood_fails_test.py FLOOD_BENCH"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

PATIENCE = 100  # seconds


def children_of(process):
    return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


class Failure(unittest.TestCase):
    def test_the_first_cause_is_printed(self):
        command = [BENCH, "--callers=1", "--seconds=60", "--mebibytes=1", "shm"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
            try:
                for case in ["send", "async"]:
                    self.kill_the_service_of(bench)
                output, errors = bench.communicate(timeout=PATIENCE)
            finally:
                bench.kill()
        self.assertEqual(1, bench.returncode, errors)
        for case in ["send", "async"]:
            self.assertRegex(errors, rf"shm +{case} +failed: slow.*SIGKILL")
        self.assertNotIn("terminate called", errors)
        self.assertIn('"cases":[]', output)

    def kill_the_service_of(self, bench):
        """Each case starts its nodes anew."""
        self.killed = getattr(self, "killed", set())
        while bench.poll() is None:
            for child in children_of(bench.pid):
                try:
                    command = pathlib.Path(f"/proc/{child}/cmdline").read_bytes()
                except OSError:
                    continue
                if b"--lp-node=slow" in command and child not in self.killed:
                    self.killed.add(child)
                    return os.kill(child, signal.SIGKILL)
        return None


if __name__ == "__main__":
    BENCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
