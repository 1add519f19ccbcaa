"""A benchmark whose run fails names the first cause, and ends with 1. Usage: flood_fails_test.py FLOOD_BENCH"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import unittest

PATIENCE = 100  # seconds


def parents():
    """The parent of each process."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass  # the process has ended meanwhile
    return found


def descendants_of(process):
    parent_of = parents()
    for one in parent_of:
        ancestor = one
        while ancestor in parent_of and ancestor != process:
            ancestor = parent_of[ancestor]
        if ancestor == process:
            yield one


def is_service(process):
    try:
        return b"--lp-node=slow" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


class Failure(unittest.TestCase):
    def test_the_first_cause_is_printed(self):
        command = [BENCH, "--callers=1", "--seconds=60", "--mebibytes=1", "shm"]
        killed = set()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
            try:
                while len(killed) < 2 and bench.poll() is None:  # each of the two cases starts its nodes anew
                    for service in filter(is_service, descendants_of(bench.pid)):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(service, signal.SIGKILL)
                        killed.add(service)
                output, errors = bench.communicate(timeout=PATIENCE)
            finally:
                bench.kill()
        self.assertEqual(1, bench.returncode, errors)
        for case in ["send", "async"]:
            self.assertRegex(errors, rf"shm +{case} +failed: slow.*SIGKILL")
        self.assertNotIn("terminate called", errors)
        self.assertIn('"cases":[]', output)


if __name__ == "__main__":
    BENCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
