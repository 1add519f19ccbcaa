"""Every scheme survives the kills that it must survive. Usage: train_kills_test.py FOLDER [--long]

Without --long each kind of kill disturbs one of the schemes that must survive it in the same way, with it each of them.
"""

import os
import pathlib
import sys
import unittest

import launch

STEPS = 2500 if "LP_SANITIZED" in os.environ else 8000  # long enough to be disturbed
LONG = "--long" in sys.argv or "LP_SANITIZED" in os.environ
FAST = ["local_sgd", "bmuf"]  # most of whose steps send nothing: twice as many
SLOW = ["feeding", "pipeline", "partitioned", "one_bit"]  # half as many take as long
ROUNDS = ["--steps=400", "--hidden=16", "--fraction=1"]  # federated


def long(scheme="synchronous"):
    return [f"--steps={2 * STEPS if scheme in FAST else STEPS // 2 if scheme in SLOW else STEPS}", "--hidden=16"]


def some(schemes):
    return schemes if LONG else schemes[:1]


class Killed(unittest.TestCase):
    def check(self, run, accuracy=0.94):
        result = run.result()
        self.assertGreaterEqual(result["accuracy"], accuracy, run.shown)
        return result

    def train(self, scheme, *flags):
        return launch.Launch("train", "--launch=processes", f"--scheme={scheme}", *long(scheme), *flags)

    def federated(self, *flags):
        return launch.Launch("train", "--launch=processes", "--scheme=federated", *ROUNDS, *flags)

    def test_a_killed_primary_is_replaced_by_its_replica(self):
        for scheme in some(["synchronous", "asynchronous", "bounded_delay", "stale_synchronous", "softsync"]):
            with self.subTest(scheme), self.train(scheme, "--replicated", "--servers=3") as run:
                run.wait_for_step(500)
                run.signal("server/1")
                self.check(run)

    def test_a_shard_whose_servers_are_both_killed_ends_the_training(self):
        with self.train("synchronous", "--replicated", "--servers=3", "--restarts=2") as run:
            run.wait_for_step(500)
            for server in ["server/0", "server/1"]:
                run.signal(server)
            self.assertEqual(1, run.wait())
            self.assertIn("shard 0 of the parameters is lost: server/0 and server/1, which had its replica, have failed", run.shown)

    def test_a_killed_worker_comes_back_to_a_replica(self):
        for scheme in some(["synchronous", "asynchronous"]):
            with self.subTest(scheme), self.train(scheme, "--replicated", "--servers=3", "--restarts=2") as run:
                run.wait_for_step(500)
                run.signal("server/1")
                run.signal("worker/2")
                self.assertEqual(STEPS, self.check(run)["updates"])

    def test_synchronous_loses_no_bit_with_a_primary(self):
        flags = ["--replicated", "--servers=3", "--seed=3"]
        expected = launch.result("train", "--launch=threads", *long(), *flags)["parameters_hash"]
        with self.train("synchronous", *flags) as run:
            run.wait_for_step(700)
            run.signal("server/2")
            self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_a_killed_worker_does_not_stop_the_others(self):
        for scheme in some(["asynchronous", "softsync", "backup", "gossip", "hogwild", "tree", "topology"]):
            with self.subTest(scheme), self.train(scheme) as run:
                run.wait_for_step(500)
                run.signal("worker/2")
                self.check(run)

    def test_more_killed_workers_than_backups_end_the_training(self):
        with self.train("backup", "--backups=1") as run:
            run.wait_for_step(500)
            for worker in ["worker/0", "worker/1"]:
                run.signal(worker)
            self.assertEqual(1, run.wait())
            self.assertIn("was killed by signal 9 (SIGKILL); group worker has 2 members left, but needs 3", run.shown)

    def test_a_killed_worker_comes_back(self):
        for scheme in some(["synchronous", "asynchronous", "bounded_delay", "stale_synchronous", "softsync", "backup"]):
            with self.subTest(scheme), self.train(scheme, "--restarts=2") as run:
                run.wait_for_step(500)
                run.signal("worker/2")
                self.check(run)

    def test_a_tree_loses_no_update_with_a_killed_leaf_or_worker_that_comes_back(self):
        for victim in ["leaf/0", "worker/2"]:
            with self.subTest(victim), self.train("tree", "--restarts=2") as run:
                run.wait_for_step(500)
                run.signal(victim)
                self.assertEqual(STEPS // 4, self.check(run)["updates"])  # two leaves of two workers each

    def test_a_tree_of_synchronous_sums_changes_no_bit_whoever_is_killed(self):
        flags = ["--scheme=tree_aggregate", f"--steps={STEPS // 4}", "--hidden=16", "--workers=8", "--restarts=2",
                 "--checkpoint-every=200", "--seed=3"]
        expected = launch.result("train", "--launch=threads", *flags)["parameters_hash"]
        for victim in ["leaf/0", "worker/3", "server/1"]:
            with self.subTest(victim), launch.Launch("train", "--launch=processes", *flags) as run:
                run.wait_for_step(300)
                run.signal(victim)
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_killed_feeders_workers_and_servers_come_back_and_change_no_bit(self):
        flags = ["--restarts=2", "--checkpoint-every=200", "--seed=3"]
        expected = launch.result("train", "--launch=threads", *long("feeding"), *flags)["parameters_hash"]
        for victim in ["feeder/1", "worker/2", "server/1"]:
            with self.subTest(victim), self.train("feeding", *flags) as run:
                run.wait_for_step(700)
                run.signal(victim)
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_a_killed_worker_or_server_of_compressed_training_changes_no_bit(self):
        for flags in some([["--scheme=one_bit"], ["--scheme=synchronous", "--compression=random_k"]]):
            flags = flags + ["--restarts=2", "--checkpoint-every=200", "--seed=3", "--servers=2"]
            expected = launch.result("train", "--launch=threads", *long("one_bit"), *flags)["parameters_hash"]
            for victim in ["worker/2", "server/1"]:
                with self.subTest(flags[-5], victim=victim), launch.Launch(
                    "train", "--launch=processes", *long("one_bit"), *flags
                ) as run:
                    run.wait_for_step(700)
                    run.signal(victim)
                    self.assertEqual(expected, run.result()["parameters_hash"], run.shown)

    def test_without_restarts_a_killed_feeder_or_its_worker_is_the_cause_of_the_end(self):
        for victim in ["feeder/1", "worker/2"]:
            with self.subTest(victim), self.train("feeding") as run:
                run.wait_for_step(500)
                run.signal(victim)
                self.assertNotEqual(0, run.wait())
                self.assertRegex(run.shown, f"{victim}: was killed by signal 9")

    def test_replicas_go_on_from_the_last_commit_without_a_killed_worker(self):
        for scheme in some(["ring", "local_sgd", "bmuf"]):
            for victim in ["worker/0", "worker/2"]:
                with self.subTest(scheme, victim=victim), self.train(scheme, "--checkpoint-every=100") as run:
                    run.wait_for_step(500)
                    run.signal(victim)
                    self.check(run)

    def test_a_killed_replica_comes_back_and_changes_no_bit(self):
        flags = ["--restarts=2", "--checkpoint-every=100", "--seed=3"]
        for scheme in some(["ring", "local_sgd", "bmuf"]):
            expected = launch.result("train", "--launch=threads", f"--scheme={scheme}", *long(scheme), *flags)["parameters_hash"]
            with self.subTest(scheme), self.train(scheme, *flags) as run:
                run.wait_for_step(700)
                run.signal("worker/2")
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_replicas_go_on_while_the_node_with_their_commits_comes_back(self):
        flags = ["--restarts=2", "--checkpoint-every=100", "--seed=3"]
        for scheme in some(["ring", "bmuf"]):
            expected = launch.result("train", "--launch=threads", f"--scheme={scheme}", *long(scheme), *flags)["parameters_hash"]
            with self.subTest(scheme), self.train(scheme, *flags) as run:
                run.wait_for_step(700)
                run.signal("commits")
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_workers_with_models_of_their_own_go_on_from_their_commits(self):
        for scheme in some(["gossip", "hogwild"]):
            with self.subTest(scheme), self.train(scheme, "--restarts=2", "--checkpoint-every=100") as run:
                run.wait_for_step(1000)
                run.signal("worker/2")
                updates = self.check(run)["updates"]
                self.assertEqual(STEPS if scheme == "hogwild" else STEPS // 4, updates)

    def test_rounds_go_on_without_a_killed_client(self):
        with self.federated("--patience=1") as run:
            run.wait_for_step(40)
            run.signal("worker/2")
            self.assertEqual(400, self.check(run)["updates"])

    def test_a_killed_client_or_killed_rounds_change_no_bit(self):
        flags = ["--restarts=2", "--checkpoint-every=20", "--seed=3"]
        expected = launch.result("train", "--launch=threads", "--scheme=federated", *ROUNDS, *flags)["parameters_hash"]
        for victim in ["worker/2", "rounds"]:
            with self.subTest(victim), self.federated(*flags) as run:
                run.wait_for_step(60)
                run.signal(victim)
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_stages_go_back_to_their_last_cut_and_change_no_bit(self):
        flags = ["--restarts=2", "--checkpoint-every=200", "--seed=3"]
        expected = launch.result("train", "--launch=threads", "--scheme=pipeline", *long("pipeline"), *flags)["parameters_hash"]
        for victim in ["stage/0", "stage/1"]:
            with self.subTest(victim), self.train("pipeline", *flags) as run:
                run.wait_for_step(1000)
                run.signal(victim)
                self.assertEqual(expected, self.check(run)["parameters_hash"])

    def test_servers_go_back_to_their_last_cut_and_every_step_is_done(self):
        for scheme, own in some([("asynchronous", []), ("asynchronous", ["--fetch-every=20"]), ("bounded_delay", []), ("stale_synchronous", [])]):
            with self.subTest(scheme, own=own), self.train(scheme, "--restarts=2", "--checkpoint-every=200", *own) as run:
                run.wait_for_step(1000)
                run.signal("server/1")
                self.assertEqual(STEPS, self.check(run)["updates"])

    def test_workers_that_hold_the_parameters_come_back_and_change_no_bit(self):
        flags = ["--scheme=partitioned", "--partition-bytes=400", "--restarts=2", "--checkpoint-every=200", "--seed=3"]
        expected = launch.result("train", "--launch=threads", *long("partitioned"), *flags)["parameters_hash"]
        for victim in ["worker/2", "server/1"]:
            with self.subTest(victim), launch.Launch("train", "--launch=processes", *long("partitioned"), *flags) as run:
                run.wait_for_step(700)
                run.signal(victim)
                self.assertEqual(expected, self.check(run)["parameters_hash"])


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
