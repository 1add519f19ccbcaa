"""Kills a node of every scheme, 20 times each at random moments.

Usage: train_random_kills_test.py FOLDER [--seed=N] [--kills=N] [SCHEME...]; it prints the seed, which gives the same moments again.

A killed node comes back or is done without, and the model is learned all the same; where the claim is that no bit changes, none
does. Who claims no such thing says who was killed. Nothing else may happen: no other end, and no hang.
"""

import argparse
import pathlib
import random
import sys
import unittest

import launch

# Else 10000: the latest kill is at half of the steps. Tenths of a second must be left then, or the program would end
# before the node dies.
STEPS = {"work_units": 4000, "backup": 20000, "asynchronous": 20000, "outer_product": 20000, "stale_synchronous": 20000,
         "softsync": 20000, "ring": 30000, "local_sgd": 60000, "bmuf": 60000, "gossip": 60000, "hogwild": 60000,
         "tree": 20000, "tree_aggregate": 20000, "topology": 30000, "partitioned": 30000, "federated": 2000}
RESTARTED = ["--restarts=2", "--cut-every=200"]
ROUNDS_RESTARTED = ["--restarts=2", "--cut-every=20"]
REPLICATED = ["--replicated", "--servers=3"]
# Scheme, flags, the node to kill, whether the bits stay.
CLAIMS = [
    ("synchronous", REPLICATED, "server/1", True),
    ("synchronous", RESTARTED, "worker/2", True),
    ("synchronous", RESTARTED, "server/1", True),
    ("in_graph", RESTARTED, "replica/2", True),
    ("in_graph", RESTARTED, "worker/0", True),
    ("feeding", RESTARTED, "feeder/1", True),
    ("feeding", RESTARTED, "worker/2", True),
    ("feeding", RESTARTED, "server/1", True),
    ("work_units", [], "replica/2", True),
    ("work_units", RESTARTED, "replica/2", True),
    ("work_units", RESTARTED, "worker/0", True),
    ("backup", [], "worker/2", False),
    ("asynchronous", REPLICATED, "server/1", False),
    ("asynchronous", [], "worker/2", False),
    ("asynchronous", RESTARTED, "server/1", False),
    ("outer_product", REPLICATED, "server/1", False),
    ("outer_product", [], "worker/2", False),
    ("bounded_delay", REPLICATED, "server/1", False),
    ("bounded_delay", RESTARTED, "worker/2", False),
    ("stale_synchronous", REPLICATED, "server/1", False),
    ("stale_synchronous", RESTARTED, "worker/2", False),
    ("softsync", REPLICATED, "server/1", False),
    ("softsync", [], "worker/2", False),
    ("ring", ["--cut-every=100"], "worker/0", False),
    ("ring", RESTARTED, "worker/2", True),
    ("local_sgd", ["--cut-every=100"], "worker/0", False),
    ("bmuf", RESTARTED, "worker/2", True),
    ("gossip", [], "worker/2", False),
    ("gossip", ["--restarts=2"], "worker/2", False),
    ("hogwild", [], "worker/2", False),
    ("hogwild", ["--restarts=2"], "worker/2", False),
    ("pipeline", RESTARTED, "stage/1", True),
    ("pipeline", RESTARTED, "worker/0", True),
    ("federated", ["--patience=1"], "worker/2", False),
    ("federated", ROUNDS_RESTARTED, "worker/2", True),
    ("federated", ROUNDS_RESTARTED, "rounds", True),
]
# Without a policy the first failure ends the program.
ENDS = [
    ("feeding", "feeder/1"),
    ("feeding", "worker/1"),
    ("tree", "leaf/0"),
    ("tree_aggregate", "server/1"),
    ("tree_aggregate", "worker/1"),
    ("sliced", "worker/1"),
    ("one_bit", "worker/1"),
    ("topology", "leaf/0"),
    ("partitioned", "server/1"),
    ("pipeline", "stage/1"),
]
ACCURACY = 0.93
OPTIONS = argparse.Namespace()


def steps_of(scheme):
    return STEPS.get(scheme, 10000)


def moments_of(*claim):
    """The steps at which it kills."""
    numbers = random.Random(f"{OPTIONS.seed} {claim}")
    return [numbers.randrange(10, steps_of(claim[0]) // 2) for _ in range(OPTIONS.kills)]


def wanted(scheme):
    return not OPTIONS.schemes or scheme in OPTIONS.schemes


def flags_of(scheme, flags):
    everybody = ["--fraction=1"] if scheme == "federated" else []
    return [f"--scheme={scheme}", f"--steps={steps_of(scheme)}", "--hidden=16", "--launch=processes", "--seed=3", *everybody, *flags]


class Kills(unittest.TestCase):
    def kill(self, scheme, flags, victim, step, expected):
        with launch.Launch("train", *flags_of(scheme, flags)) as run:
            run.wait_for_step(step)
            run.signal(victim)
            result = run.result()
            self.assertGreaterEqual(result["accuracy"], ACCURACY, run.shown)
            if expected is not None:
                self.assertEqual(expected, result["parameters_hash"], run.shown)

    def test_what_is_killed_is_survived(self):
        for scheme, flags, victim, exact in CLAIMS:
            if not wanted(scheme):
                continue
            expected = launch.result("train", *flags_of(scheme, flags))["parameters_hash"] if exact else None
            for step in moments_of(scheme, flags, victim):
                with self.subTest(scheme, flags=flags, victim=victim, step=step, seed=OPTIONS.seed):
                    self.kill(scheme, flags, victim, step, expected)
            print(f"{scheme} {' '.join(flags)}: {victim} was killed {OPTIONS.kills} times", flush=True)

    def test_what_is_not_survived_ends_with_a_clear_error(self):
        for scheme, victim in ENDS:
            for step in moments_of(scheme, victim) if wanted(scheme) else []:
                with self.subTest(scheme, victim=victim, step=step, seed=OPTIONS.seed), \
                        launch.Launch("train", *flags_of(scheme, [])) as run:
                    run.wait_for_step(step)
                    run.signal(victim)
                    self.assertNotEqual(0, run.wait())
                    self.assertRegex(run.shown, f"{victim}.*(SIGKILL|killed)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("schemes", nargs="*")
    OPTIONS = parser.parse_intermixed_args()
    launch.FOLDER = OPTIONS.folder
    print(f"--seed={OPTIONS.seed}", flush=True)
    unittest.main(argv=sys.argv[:1])
