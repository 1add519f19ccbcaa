"""Agents learn by acting, in threads and in processes, and draw their curves. Usage: learning_test.py FOLDER"""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import charts
import launch


class Learning(unittest.TestCase):
    def test_ppo_has_the_same_bits_in_threads_and_in_processes(self):
        flags = ["--steps=8000", "--seed=3"]
        results = [launch.result("ppo", f"--launch={how}", *flags) for how in ["threads", "processes"]]
        self.assertEqual(1, len({result["parameters_hash"] for result in results}))
        self.assertEqual(8192, results[0]["steps"])
        self.assertGreater(results[0]["mean"], 50)

    def test_every_agent_acts_in_processes_and_draws_its_curve(self):
        for name, flags in [("ppo", []), ("impala", ["--environment=catch"]), ("dqn", ["--environment=catch"]), ("td3", [])]:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                picture = pathlib.Path(folder, "curve.svg")
                result = launch.result(name, "--launch=processes", "--steps=3000", f"--plot={picture}",
                                       f"--directory={folder}/run", *flags)
                self.assertEqual(100, result["episodes"])
                self.assertGreater(result["updates"], 0)
                xml.etree.ElementTree.fromstring(picture.read_text())
                curves = b"".join(file.read_bytes() for file in pathlib.Path(folder, "run/curves/learner").iterdir())
                self.assertIn(b"reward", curves)  # so that TensorBoard and lp plot show it

    def test_the_chart_begins_with_the_training_whatever_is_restarted_or_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder, "curve.svg")
            flags = ["--launch=processes", "--restarts=2", f"--plot={picture}"]
            with launch.Launch("ppo", *flags, "--steps=60000", "--checkpoint_every=10") as first:
                first.wait_for_step(20)
                first.signal("metrics")
                half = first.result()["steps"]
                before = charts.first_and_last_steps(picture)
                whole = launch.result("ppo", *flags, "--steps=80000", f"--resume={first.directory}")["steps"]
            after = charts.first_and_last_steps(picture)
            acting = "acting, mean of 100 episodes"
            self.assertEqual({acting, "best actions, mean of an evaluation"}, set(after))
            self.assertLess(before[acting][0], 2000)  # the first update, long before the kill
            for name in after:
                self.assertAlmostEqual(before[name][0], after[name][0], delta=400)  # two pixels
            self.assertAlmostEqual(half, before[acting][1], delta=400)
            self.assertAlmostEqual(whole, after[acting][1], delta=400)

    def test_a_chart_that_cannot_be_written_costs_no_result(self):
        steps = {"ppo": 600, "impala": 600, "dqn": 1100, "td3": 1100}
        for name in steps:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                flags = [f"--steps={steps[name]}", "--plot=/dev/full", f"--snapshots={folder}/snapshots"]
                process = launch.run(name, "--json", *flags)
                self.assertEqual(1, process.returncode, process.stderr)
                self.assertIn("the chart could not be saved: cannot write /dev/full", process.stderr)
                result = json.loads(process.stdout.splitlines()[-1])
                self.assertEqual("report", result["failed_node"])
                self.assertEqual(100, result["episodes"])
                self.assertGreater(result["steps"], 0)
                self.assertEqual(16, len(result["parameters_hash"]))
                self.assertTrue(pathlib.Path(result["snapshot"]).exists())

    def test_a_last_snapshot_that_cannot_be_written_costs_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "policy-1024.lpc", "taken").mkdir(parents=True)
            process = launch.run("ppo", "--json", "--steps=1024", f"--snapshots={folder}", "--plot=/dev/full")
            self.assertEqual(1, process.returncode, process.stderr)
            for name in ["the chart", "the last snapshot"]:
                self.assertIn(f"{name} could not be saved", process.stderr)
            result = json.loads(process.stdout.splitlines()[-1])
            self.assertEqual((1024, 100, ""), (result["steps"], result["episodes"], result["snapshot"]))

    def test_the_last_policy_is_kept_with_more_actors_than_copies(self):
        with tempfile.TemporaryDirectory() as folder:
            result = launch.result("ppo", "--actors=17", "--steps=2000", f"--snapshots={folder}")
            self.assertEqual(f"{folder}/policy-{result['steps']}.lpc", result["snapshot"])
            self.assertTrue(pathlib.Path(result["snapshot"]).exists())

    def test_what_does_not_fit_is_named(self):
        for name, flag, sentence in [("impala", "--environment=pendulum", "has continuous actions: choose another agent"),
                                     ("td3", "--environment=cartpole", "TD3 needs continuous actions"),
                                     ("dqn", "--environment=cartpool", "choose one of acrobot, cartpole"),
                                     ("dqn", "--steps=100", "an experiment needs at least 1002 steps, not 100"),
                                     ("ppo", "--plot=/nowhere/a.svg", "--plot: cannot write /nowhere/a.svg")]:
            with self.subTest(name):
                process = launch.run(name, flag)
                self.assertEqual(2, process.returncode)  # nothing was started
                self.assertIn(sentence, process.stderr)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
