"""Searches by evolution, in threads and in processes, and when their processes are killed. Usage: evolution_test.py FOLDER"""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import charts
import launch

POINTS = 6400 if "LP_SANITIZED" in os.environ else 12_800
LONG = [f"--evaluations={POINTS}", "--seed=3", "--restarts=40"]  # 200 generations: long enough to be disturbed


def searched(*flags):
    return launch.result("es", *flags)["search"]


class Evolution(unittest.TestCase):
    def test_workers_launchers_and_restarts_change_no_bit(self):
        for method in [["--noise=counter"], ["--noise=table"], ["--method=cma", "--function=ackley"]]:
            flags = ["--evaluations=3200", "--seed=3", *method]
            expected = searched("--launch=threads", *flags)
            self.assertEqual(0, expected["stale"])
            for how in [["--launch=threads", "--workers=5"], ["--launch=processes", "--workers=1"],
                        ["--launch=processes", "--workers=5"], ["--launch=processes", "--workers=1..2"]]:
                with self.subTest(method=method, how=how):
                    self.assertEqual(expected, searched(*how, *flags))

    def test_it_solves_cartpole_and_draws_its_curve(self):
        for method in ["es", "cma"]:
            with self.subTest(method), tempfile.TemporaryDirectory() as folder:
                picture = pathlib.Path(folder, "curve.svg")
                result = launch.result("es", "--launch=processes", f"--method={method}", "--seed=1", f"--plot={picture}")
                self.assertGreaterEqual(result["mean"], 475)
                xml.etree.ElementTree.fromstring(picture.read_text())

    def test_a_chart_that_cannot_be_written_costs_no_result(self):
        for flags in [[], ["--function=sphere"]]:
            with self.subTest(flags):
                process = launch.run("es", "--json", "--evaluations=640", "--plot=/dev/full", *flags)
                self.assertEqual(1, process.returncode, process.stderr)
                self.assertIn("the chart could not be saved: cannot write /dev/full", process.stderr)
                result = json.loads(process.stdout.splitlines()[-1])
                self.assertEqual("report", result["failed_node"])
                self.assertEqual(640, result["search"]["evaluations"])
                self.assertIsInstance(result["mean"], (int, float))

    def test_it_minimizes_functions_up_to_a_goal(self):
        for flags in [["--function=sphere"], ["--function=rosenbrock", "--method=cma"],
                      ["--function=sphere", "--method=separable_cma", "--dimensions=600"]]:
            with self.subTest(flags):
                result = launch.result("es", "--launch=processes", "--goal=1e-6", "--evaluations=1000000", *flags)
                self.assertLessEqual(result["mean"], 1e-6)
                self.assertLess(result["search"]["evaluations"], 1_000_000)

    def test_a_search_that_ends_at_once_has_no_best_point(self):
        result = launch.result("es", "--launch=threads", "--goal=0", "--evaluations=18446744073709551615")
        self.assertEqual(result["search"]["evaluations"] == 0, result["search"]["best"] is None)

    def test_a_goal_of_an_environment_ends_the_search(self):
        result = launch.result("es", "--launch=threads", "--goal=100", "--evaluations=1000000000")
        self.assertGreater(result["mean"], 50)

    def test_without_waiting_late_results_are_counted(self):
        search = searched("--launch=processes", "--workers=4", "--synchronous=false", "--evaluations=6400")
        self.assertEqual(6400, search["evaluations"])
        self.assertGreater(search["stale"], 0)

    def test_what_does_not_fit_is_named(self):
        for flags, sentence in [(["--function=spher"], "choose one of ackley, rastrigin, rosenbrock, sphere"),
                                (["--environment=cartpool"], "choose one of acrobot, cartpole"),
                                (["--function=rosenbrock", "--dimensions=1"], "needs 2 or more dimensions"),
                                (["--function=sphere", "--method=cma", "--dimensions=3000"], "at most 512 parameters"),
                                (["--function=sphere", "--episodes=2"], "--episodes has an effect only without --function"),
                                (["--method=cma", "--rate=0.1"], "--rate has an effect only with --method=es"),
                                *[([f"--{flag}={value}"], f"--{flag}={value} is out of range: give 0, or a value from 1.2e-38 to {most}")
                                  for flag, value, most in [("sigma", "1e+39", "3.4e38"), ("rate", "1e+39", "3.4e38"), ("shrink", "1e-50", "1"),
                                                            ("sigma", "1e-50", "3.4e38"), ("weight_decay", "1e-50", "3.4e38")]],
                                (["--method=cma", "--sigma=1e+39"], "--sigma=1e+39 is out of range"),
                                (["--dimensions=3"], "--dimensions has an effect only with --function"),
                                (["--plot=/nowhere/a.svg"], "--plot: cannot write /nowhere/a.svg")]:
            with self.subTest(flags):
                process = launch.run("es", *flags)
                self.assertEqual(2, process.returncode)  # before anything starts
                self.assertIn(sentence, process.stderr)


class Killed(unittest.TestCase):
    def test_whatever_is_killed_every_point_is_evaluated_and_no_bit_changes(self):
        expected = searched("--launch=threads", *LONG)
        for victim in ["worker/1", "learner", "metrics", "evaluator"]:
            with self.subTest(victim), launch.Launch("es", "--launch=processes", *LONG) as run:
                run.wait_for_step(20)
                run.signal(victim)
                found = run.result()["search"]
                found["stale"] = 0  # of a worker that was late, or of a learner that went back
                self.assertEqual(expected, found, run.shown)

    def test_a_search_goes_on_with_the_workers_that_are_left(self):
        flags = [flag for flag in LONG if not flag.startswith("--restarts")]
        expected = searched("--launch=threads", *flags)["parameters_hash"]
        with launch.Launch("es", "--launch=processes", "--workers=1..3", *flags) as run:
            run.wait_for_step(20)
            run.signal("worker/0")
            run.wait_for_step(60)
            run.signal("worker/2")
            self.assertEqual(expected, run.result()["search"]["parameters_hash"], run.shown)

    def test_without_restarts_a_killed_worker_is_the_cause_of_the_end(self):
        with launch.Launch("es", "--launch=processes", f"--evaluations={POINTS}") as run:
            run.wait_for_step(20)
            run.signal("worker/1")
            self.assertNotEqual(0, run.wait())
            self.assertRegex(run.shown, "worker/1: was killed by signal 9")

    def test_a_run_resumes_another(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--launch=processes", "--evaluations=1280", "--seed=3"]
            first = searched(*flags, f"--directory={folder}/first")
            more = searched("--launch=threads", "--evaluations=3200", f"--resume={folder}/first", f"--directory={folder}/second")
            self.assertEqual(20, first["generations"])
            self.assertEqual(searched("--launch=threads", "--evaluations=3200", "--seed=3"), more)

    def test_the_chart_begins_with_the_search_whatever_is_restarted_or_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = pathlib.Path(folder, "curve.svg")
            with launch.Launch("es", "--launch=processes", f"--plot={picture}", *LONG) as first:
                first.wait_for_step(20)
                first.signal("metrics")
                half = first.result()["search"]["steps"]
                flags = [f"--evaluations={POINTS + 640}", f"--resume={first.directory}", f"--plot={picture}"]
                whole = searched("--launch=processes", *flags)["steps"]
            steps = charts.first_and_last_steps(picture)
            self.assertEqual({"mean of 100 points", "best point", "centre, mean of an evaluation"}, set(steps))
            pixels = whole // 250  # two of them
            self.assertLess(steps["centre, mean of an evaluation"][0], half)
            for name in ["mean of 100 points", "best point"]:
                self.assertLess(steps[name][0], half // 10)  # the first generation, long before the kill
                self.assertAlmostEqual(whole, steps[name][1], delta=pixels)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
