"""Servers answer in batches while the policy changes and servers die. Usage: inference_test.py FOLDER"""

import pathlib
import signal
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import launch

SECONDS = 10 if launch.SANITIZED else 0.5  # for each load
LOADS = [2, 8, 32, 128, 0]  # requests under way of two clients; 0: three times as many as were answered before


class Inference(unittest.TestCase):
    def check(self, result):
        rows = result["rows"]
        self.assertEqual(LOADS, [row["under_way"] for row in rows])
        for row in rows:
            self.assertGreater(row["answers"], 0)
            self.assertEqual(0, row["failed"])
        for row in rows[:-1]:
            self.assertEqual((0, 0), (row["shed"], row["late"]))
        self.assertGreater(max(row["reward"] or 0 for row in rows), 40)  # it has learned meanwhile: it began with 22
        self.assertGreater(min(result["versions"]), 1)

    def test_it_answers_in_threads_and_in_processes_and_draws(self):
        for how in ["threads", "processes"]:
            with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                picture = pathlib.Path(folder, "curve.svg")
                result = launch.result("inference", f"--launch={how}", f"--seconds={SECONDS}", f"--plot={picture}")
                self.check(result)
                xml.etree.ElementTree.fromstring(picture.read_text())

    def test_it_serves_policies_of_every_environment(self):
        for environment in ["acrobot", "catch", "mountaincar", "pendulum"]:
            with self.subTest(environment):
                result = launch.result("inference", f"--environment={environment}", "--copies=16", "--seconds=0.2")
                self.assertEqual([0] * len(LOADS), [row["failed"] for row in result["rows"]])

    def test_it_stops_in_order_with_requests_under_way(self):
        for how in ["threads", "processes"]:
            with self.subTest(how), launch.Launch("inference", f"--launch={how}", "--seconds=0.2") as run:
                run.wait_for_step(1)
                self.assertEqual(128 + signal.SIGTERM, run.stop(), run.shown)

    def test_no_request_is_lost_when_a_server_and_the_trainer_are_killed(self):
        with launch.Launch("inference", "--launch=processes", "--seconds=1") as run:
            run.wait_for_step(1)  # of a client
            run.signal("server/0")
            run.wait_for_step(2)
            run.signal("learner")
            run.wait_for_step(3)
            run.signal("server/1")
            result = run.result()
        self.assertEqual(LOADS, [row["under_way"] for row in result["rows"]])
        for row in result["rows"]:
            self.assertGreater(row["answers"], 0)
            self.assertEqual(0, row["failed"])

    def test_every_load_is_measured_when_a_client_and_the_reports_are_killed(self):
        with launch.Launch("inference", "--launch=processes", "--seconds=0.4") as run:
            run.wait_for_step(1)
            run.signal("client/0")
            run.wait_for_step(2)
            run.signal("reports")
            self.assertEqual(LOADS, [row["under_way"] for row in run.result()["rows"]])

    def test_actors_learn_on_when_the_server_of_their_policy_is_killed(self):
        with launch.Launch("impala", "--environment=catch", "--launch=processes", "--inference_servers=1",
                           "--restarts=5", "--steps=400000") as run:
            for step in [100, 500, 1000]:
                run.wait_for_step(step)
                run.signal("policy_server/0")
            result = run.result()
        self.assertEqual(2500, result["updates"])
        self.assertGreater(result["mean"], 0.9)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
