"""The digits are learned, and no disturbance changes a bit. Usage: digits_test.py FOLDER"""

import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

import launch

STEPS = 2000 if "LP_SANITIZED" in os.environ else 3000  # long enough to be disturbed
LONG = ["--workers=3", "--servers=2", f"--steps={STEPS}", "--hidden=64", "--seed=4"]


class Digits(unittest.TestCase):
    def test_it_learns(self):
        result = launch.result("digits", "--launch=processes", "--servers=2")
        self.assertGreaterEqual(result["accuracy"], 0.96)
        self.assertLess(result["loss"], 0.2)
        self.assertEqual(500, result["steps"])
        self.assertGreater(result["seconds"], 0)
        self.assertEqual("processes", result["launch"])

    def test_the_bits_are_a_function_of_the_seed(self):
        hashes = {launch.result("digits", "--steps=100", "--seed=1", *flags)["parameters_hash"]
                  for flags in [["--launch=threads"], ["--launch=threads"], ["--launch=processes"],
                                ["--launch=processes", "--servers=3"],
                                ["--launch=processes", "--path=tcp"], ["--launch=processes", "--path=tcp", "--curve"]]}
        self.assertEqual(1, len(hashes))
        self.assertNotIn(launch.result("digits", "--steps=100", "--seed=2")["parameters_hash"], hashes)

    def test_a_run_goes_on_where_another_ended(self):
        expected = launch.result("digits", "--steps=200")["parameters_hash"]
        with tempfile.TemporaryDirectory() as folder:
            launch.result("digits", "--steps=130", "--launch=processes", f"--directory={folder}/run")
            for how in ["threads", "processes"]:
                result = launch.result("digits", "--steps=200", f"--launch={how}", f"--resume={folder}/run")
                self.assertEqual((200, expected), (result["steps"], result["parameters_hash"]))
            other = launch.run("digits", "--steps=200", "--seed=1", f"--resume={folder}/run")
            self.assertNotEqual(0, other.returncode)
            self.assertIn("--seed is 1, but was 0 in the run to resume", other.stderr)

    def test_it_reads_a_libsvm_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".libsvm") as file:
            for i in range(50):
                file.write(f"0 1:{1 + i / 100}\n1 2:{1 + i / 100}\n")
            file.flush()
            result = launch.result("digits", f"--libsvm={file.name}", "--launch=processes", "--hidden=4", "--workers=2")
        self.assertEqual(1, result["accuracy"])

    def test_a_file_that_is_not_there_is_named(self):
        process = launch.run("digits", "--libsvm=nowhere.txt", "--launch=processes")
        self.assertNotEqual(0, process.returncode)
        self.assertIn("nowhere.txt", process.stderr)


class Disturbed(unittest.TestCase):
    expected = None

    @classmethod
    def setUpClass(cls):
        cls.expected = launch.result("digits", "--launch=threads", *LONG)["parameters_hash"]

    def digits(self, *flags):
        return launch.Launch("digits", "--launch=processes", *LONG, *flags)

    def check(self, run):
        result = run.result()
        self.assertEqual((STEPS, self.expected), (result["steps"], result["parameters_hash"]), run.shown)

    def test_a_killed_worker_comes_back(self):
        with self.digits("--restarts=3") as run:
            for step, worker in [(200, "worker/1"), (800, "worker/2"), (1400, "worker/0")]:
                run.wait_for_step(step)
                run.signal(worker)
            self.check(run)

    def test_a_killed_server_comes_back_with_the_others(self):
        with self.digits("--restarts=3") as run:
            for step, server in [(200, "server/1"), (800, "server/0")]:
                run.wait_for_step(step)
                run.signal(server)
            self.check(run)

    def test_a_server_that_is_killed_before_the_first_cut_begins_again(self):
        with self.digits("--restarts=3", "--checkpoint-every=0") as run:
            run.wait_for_step(200)
            run.signal("server/0")
            self.check(run)

    def test_a_server_and_a_worker_are_killed_together(self):
        with self.digits("--restarts=3") as run:
            run.wait_for_step(200)
            run.signal("worker/2")
            run.signal("server/1")
            self.check(run)

    def test_what_hangs_is_found_and_restarted(self):
        for node in ["worker/1", "server/0"]:
            with self.subTest(node), self.digits("--restarts=3", "--heartbeat=1") as run:
                run.wait_for_step(200)
                run.signal(node, signal.SIGSTOP)
                self.check(run)

    def test_the_policy_may_stand_in_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("groups:\n  worker:\n    on_failure: {restart: 2}\n")
            file.flush()
            with self.digits(f"--config={file.name}") as run:
                run.wait_for_step(200)
                run.signal("worker/1")
                self.check(run)

    def test_without_a_policy_the_first_failure_ends_it(self):
        for output in ["lines", "progress", "none"]:
            with self.subTest(output), self.digits(f"--output={output}") as run:
                if output != "none":
                    run.wait_for_step(200)
                while not run.has("worker/1"):
                    pass
                killed = time.monotonic()
                run.signal("worker/1")
                self.assertNotEqual(0, run.wait())
                self.assertLess(time.monotonic() - killed, 2)
                self.assertIn("worker/1", run.shown[-1000:])
                self.assertIn("SIGKILL", run.shown[-1000:])
                result = run.last_line()
                self.assertEqual((False, "worker/1"), (result["success"], result["failed_node"]))


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
