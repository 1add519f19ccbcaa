"""Every scheme in processes: it learns, and its statistics are right. Usage: train_test.py FOLDER"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import launch

SCHEMES = {
    "synchronous": [], "in_graph": [], "feeding": [], "work_units": [], "outer_product": ["--steps=2133"], "backup": [], "asynchronous": [], "bounded_delay": [], "stale_synchronous": [],
    "softsync": ["--rate=0.4"], "tree": ["--rate=0.2", "--splits=2"], "partitioned": ["--partition-bytes=4000"],
    "sliced": [], "one_bit": [], "ring": [], "local_sgd": ["--average-every=20", "--rate=0.3"],
    "bmuf": ["--average-every=5", "--rate=0.15"], "tree_aggregate": ["--workers=8"], "hogwild": [], "pipeline": [],
    "topology": ["--rate=0.2"], "federated": ["--steps=71", "--batch=16", "--epochs=2"],
    "gossip": ["--rate=0.3", "--probability=0.2"],
}
SAME_BITS = {"synchronous", "in_graph", "feeding", "partitioned", "sliced", "one_bit", "ring", "local_sgd", "bmuf", "tree_aggregate",
             "pipeline", "federated"}  # in every run
STEPS = 400 if "LP_SANITIZED" in os.environ else 1600  # it has learned by the first; a sanitizer looks for other errors
WITHIN = {"one_bit": 0.02, "hogwild": 0.02, "gossip": 0.02}  # points of accuracy below serial training; others: 0.01
DATA = pathlib.Path(__file__).parents[3] / "shared" / "data"  # beside the project, if it exists


class Train(unittest.TestCase):
    def test_the_list_names_every_scheme_and_its_system(self):
        process = launch.run("train", "--list")
        self.assertEqual(0, process.returncode)
        self.assertEqual(set(SCHEMES), {line.split()[0] for line in process.stdout.splitlines()})
        self.assertIn("(Petuum)", process.stdout)

    def test_help_has_the_flags_of_the_chosen_scheme(self):
        flags = lambda *words: set(re.findall(r"^  --([a-z-]+)", launch.run("train", *words, "--help").stdout, re.MULTILINE))
        everything, ring, federated = flags(), flags("--scheme=ring"), flags("--scheme=federated")
        self.assertLess(ring, everything)
        self.assertEqual({"fusion-bytes"}, ring - federated)
        self.assertEqual({"fraction", "epochs", "label-shards", "patience", "target"}, federated - ring)
        self.assertFalse({"servers", "compression", "found.inputs"} & ring)
        self.assertLess({"servers", "compression", "backups", "save", "launch", *ring, *federated}, everything)

    def test_every_scheme_learns_in_processes(self):
        expected = launch.result("train", "--workers=1", f"--steps={STEPS}", "--launch=threads")["accuracy"]
        for scheme, flags in SCHEMES.items():
            with self.subTest(scheme):
                steps = [] if any(flag.startswith("--steps") for flag in flags) else [f"--steps={STEPS}"]
                accuracies = [launch.result("train", f"--scheme={scheme}", "--launch=processes", *steps, *flags)["accuracy"]
                              for _ in range(1 if scheme in SAME_BITS else 2)]
                self.assertGreaterEqual(sum(accuracies) / len(accuracies), expected - WITHIN.get(scheme, 0.01))

    def test_the_result_says_what_the_scheme_did(self):
        backup = launch.result("train", "--scheme=backup", "--workers=3", "--steps=200", "--servers=1")
        self.assertEqual((200, 400), (backup["updates"], backup["gradients"]))
        asynchronous = launch.result("train", "--scheme=asynchronous", "--steps=200", "--servers=1", "--launch=processes")
        self.assertEqual(200, sum(asynchronous["staleness"]))
        self.assertGreater(asynchronous["mean_staleness"], 0)
        self.assertLess(asynchronous["mean_staleness"], 8)
        exact = launch.result("train", "--scheme=synchronous", "--steps=200", "--servers=1")
        one_bit = launch.result("train", "--scheme=one_bit", "--steps=200", "--servers=1")
        self.assertLess(one_bit["bytes_sent"], exact["bytes_sent"] / 15)
        for result in [backup, asynchronous, exact]:
            self.assertGreater(result["idle_share"], 0)
            self.assertLess(result["idle_share"], 1)

    def test_a_training_is_resumed_with_more_steps_and_its_own_seed_and_data(self):
        with tempfile.TemporaryDirectory() as directory:
            flags = ["--launch=processes", "--hidden=16"]
            launch.result("train", *flags, "--steps=100", "--seed=3", f"--directory={directory}/half")
            resumed = launch.result("train", *flags, "--steps=200", f"--resume={directory}/half")
            whole = launch.result("train", *flags, "--steps=200", "--seed=3")
            self.assertEqual(whole["parameters_hash"], resumed["parameters_hash"])

    def test_the_model_that_reached_the_target_is_the_result(self):
        reached = launch.result("train", "--steps=1000000", "--evaluate-every=0.05", "--target=0.95")
        self.assertGreaterEqual(reached["accuracy"], 0.95)
        self.assertLess(reached["updates"], 1000000)

    def test_a_resumed_training_saves_its_model_where_the_first_one_did(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(launch.command("train", "--steps=20", "--save=model.lpm", f"--directory={directory}/half"),
                           cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            resumed = launch.result("train", "--steps=30", f"--resume={directory}/half")
            self.assertEqual(str(pathlib.Path(directory, "model.lpm")), resumed["saved"])

    def test_the_curves_begin_with_the_training_whatever_is_restarted_or_resumed(self):
        with tempfile.TemporaryDirectory() as directory:
            flags = ["--launch=processes", "--restarts=2", "--evaluate-every=0.02"]
            file = pathlib.Path(directory, "curves.csv")
            with launch.Launch("train", *flags, "--steps=1500", "--checkpoint-every=100") as first:
                for name in ["metrics", "evaluator"]:
                    first.wait_for_step(200)
                    first.signal(name)
                first.result()
                resumed = launch.result("train", *flags, "--steps=2000", f"--resume={first.directory}", f"--curves={file}")
            steps = [int(row["step"]) for row in csv.DictReader(file.read_text().splitlines()) if row["series"] == "accuracy"]
            self.assertEqual(resumed["looks"], len(steps))
            self.assertEqual(sorted(set(steps)), steps)
            self.assertLess(steps[0], 200)
            self.assertGreater(steps[-1], 1500)

    def test_schemes_that_sum_in_the_same_order_end_with_the_same_bits(self):
        hashes = {launch.result("train", f"--scheme={scheme}", "--steps=100", f"--launch={how}", *flags)["parameters_hash"]
                  for how in ["threads", "processes"]
                  for scheme, flags in [("synchronous", []), ("partitioned", ["--partition-bytes=4000"]), ("sliced", []), ("in_graph", []),
                                        ("feeding", []), ("bounded_delay", ["--delay=0"])]}
        self.assertEqual(1, len(hashes))

    def test_processes_do_what_threads_do(self):
        for scheme, flags in [("feeding", []), ("work_units", []), ("tree_aggregate", ["--workers=8"]), ("one_bit", []), ("topology", ["--worker-groups=1"]),
                              ("ring", []), ("local_sgd", ["--average-every=7"]), ("bmuf", ["--average-every=7"]), ("pipeline", []),
                              ("federated", ["--steps=10", "--batch=16", "--epochs=2", "--fraction=0.5"]),
                              *[(scheme, ["--workers=1", *flags]) for scheme, flags in [
                                  ("asynchronous", ["--fetch-every=4", "--push-every=2"]), ("outer_product", []), ("hogwild", []),
                                  ("stale_synchronous", ["--staleness=3"]), ("softsync", []), ("gossip", [])]]]:
            steps = [] if any(flag.startswith("--steps") for flag in flags) else ["--steps=100"]
            threads, processes = (launch.result("train", f"--scheme={scheme}", f"--launch={how}", *steps, *flags)
                                  for how in ["threads", "processes"])
            for key in ["parameters_hash", "updates", "gradients", "bytes_sent"]:
                with self.subTest(scheme, key=key):
                    self.assertEqual(threads[key], processes[key])

    def test_in_processes_no_gradient_is_older_than_its_scheme_allows(self):
        for scheme, flags, oldest in [("synchronous", [], 0), ("bounded_delay", ["--delay=2"], 2),
                                      ("stale_synchronous", ["--staleness=0"], 3)]:  # a step of each of the others
            with self.subTest(scheme):
                result = launch.result("train", f"--scheme={scheme}", "--steps=2000", "--servers=1", "--launch=processes", *flags)
                self.assertEqual(result["gradients"], sum(result["staleness"][:oldest + 1]))

    def test_it_is_watched_while_it_trains_and_ends_when_it_is_good_enough(self):
        for scheme in ["asynchronous", "outer_product"]:
            with self.subTest(scheme), tempfile.TemporaryDirectory() as directory:
                curves, snapshots = pathlib.Path(directory) / "curves.csv", pathlib.Path(directory) / "snapshots"
                result = launch.result("train", f"--scheme={scheme}", "--steps=1000000", "--evaluate-every=0.02",
                                       "--target=0.9", f"--curves={curves}", f"--snapshots={snapshots}",
                                       "--snapshot-every=0.05", "--launch=processes")
                self.assertGreaterEqual(result["accuracy"], 0.85)
                self.assertLess(result["updates"], 1000000)
                rows = list(csv.DictReader(curves.read_text().splitlines()))
                accuracies = [float(row["value"]) for row in rows if row["series"] == "accuracy"]
                self.assertEqual(result["looks"], len(accuracies))
                self.assertGreaterEqual(accuracies[-1], 0.9)
                self.assertTrue(all(accuracy < 0.9 for accuracy in accuracies[:-1]))
                self.assertEqual(snapshots, pathlib.Path(result["snapshot"]).parent)
                self.assertLessEqual(len(list(snapshots.iterdir())), 5)
                kept = subprocess.run(launch.command("train", "--json", f"--evaluate={result['snapshot']}"), capture_output=True, text=True)
                self.assertGreater(json.loads(kept.stdout)["accuracy"], 0.85, kept.stderr)

    def test_what_cannot_be_kept_costs_no_result(self):
        process = launch.run("train", "--json", "--steps=100", "--evaluate-every=0.01", "--curves=/dev/full")
        self.assertEqual(1, process.returncode, process.stderr)
        self.assertIn("the curves could not be saved: cannot write /dev/full", process.stderr)
        result = json.loads(process.stdout.splitlines()[-1])
        self.assertEqual("report", result["failed_node"])
        self.assertGreater(result["accuracy"], 0.5)

    def test_who_watches_needs_parameters_at_the_servers_and_looks(self):
        for flags, said in [(["--scheme=ring", "--evaluate-every=1"], "no server holds the parameters"),
                            (["--scheme=partitioned", "--snapshots=x"], "no server holds the parameters"),
                            (["--target=0.9"], "--evaluate-every=SECONDS"), (["--curves=x"], "--evaluate-every=SECONDS")]:
            process = launch.run("train", *flags)
            self.assertEqual(2, process.returncode)
            self.assertIn(said, process.stderr)

    def test_a_file_with_the_name_of_the_bundled_data_is_another(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "digits").write_bytes(b"\0")
            process = subprocess.run(launch.command("train", "--steps=20", "--launch=processes", "--directory=run"), cwd=folder,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=launch.PATIENCE)
            self.assertEqual(0, process.returncode, process.stderr)

    def test_it_reads_a_csv_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("height,width,class\n" + "".join(f"{1 + i / 100},0,0\n0,{1 + i / 100},1\n" for i in range(50)))
            file.flush()
            self.assertEqual(1, launch.result("train", f"--data={file.name}", "--model=softmax", "--workers=2")["accuracy"])

    def test_with_restarts_checkpoints_are_taken_every_50_updates_unless_flags_say_otherwise(self):
        for flags, cuts in [([], [110]), (["--restarts=1"], [50, 100, 110]), (["--restarts=1", "--checkpoint-every=0"], [110])]:
            with self.subTest(flags), tempfile.TemporaryDirectory() as folder:
                launch.result("train", "--steps=110", f"--directory={folder}/run", *flags)
                taken = [int(one.name.removeprefix("step-")) for one in pathlib.Path(folder).glob("run/checkpoints/step-*")]
                self.assertEqual(cuts, sorted(taken))

    def test_a_mistake_in_the_data_is_told_before_nodes_start(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "bad.csv"
            data.write_text("1,2,0\n1,,1\n")
            for scheme in ["synchronous", "ring", "feeding", "pipeline"]:
                process = launch.run("train", f"--scheme={scheme}", f"--data={data}", "--launch=processes", f"--directory={folder}/run")
                self.assertEqual(2, process.returncode)
                self.assertIn("bad.csv:2: the value of column 2 is missing", process.stderr)
                self.assertFalse((pathlib.Path(folder) / "run").exists())

    @unittest.skipIf("LP_SANITIZED" in os.environ, "strace disturbs a sanitizer")
    def test_a_file_of_data_is_read_once(self):
        with tempfile.TemporaryDirectory() as folder:
            data, calls = pathlib.Path(folder) / "own.csv", pathlib.Path(folder) / "calls"
            data.write_text("".join(f"{i},{i % 7},{i % 2}\n" for i in range(100)))
            for scheme in ["synchronous", "feeding", "pipeline"]:
                flags = [f"--scheme={scheme}", f"--data={data}", "--steps=20", "--launch=processes", f"--directory={folder}/{scheme}"]
                subprocess.run(["strace", "-f", "-qq", "-e", "trace=openat", "-o", calls, *launch.command("train", *flags)], check=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=launch.PATIENCE)
                self.assertEqual(1, calls.read_text().count(f'"{data}"'), scheme)

    @unittest.skipUnless((DATA / "agaricus.train.libsvm").exists(), "there is no agaricus.train.libsvm")
    def test_sparse_examples_are_learned_by_their_rows(self):
        flags = [f"--data={DATA}/agaricus.train.libsvm", "--model=linear", "--rate=0.5"]
        expected = launch.result("train", "--workers=1", *flags)["accuracy"]
        for scheme, own in [("asynchronous", []), ("bounded_delay", []), ("stale_synchronous", []), ("softsync", ["--splits=4"])]:
            for how in ["threads", "processes"]:
                with self.subTest(scheme=scheme, how=how):
                    result = launch.result("train", f"--scheme={scheme}", f"--launch={how}", "--sparse", *own, *flags)
                    self.assertGreaterEqual(result["accuracy"], expected - 0.01)

    def test_a_flag_of_a_file_that_says_nothing_names_its_place(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("scheme: ring\nservers: 3\n")
            file.flush()
            for flags, said in [([], f"{file.name}:2:1: servers has no effect with the scheme ring"),
                                (["--servers=4"], "--servers has no effect with the scheme ring")]:
                process = launch.run("train", f"--config={file.name}", *flags)
                self.assertEqual(2, process.returncode)
                self.assertIn(f": {said}", process.stderr)

    def test_nodes_that_observe_are_restarted_too(self):
        with tempfile.TemporaryDirectory() as folder, launch.Launch(
                "train", "--launch=processes", "--restarts=2", "--steps=20000", "--evaluate-every=0.1", f"--snapshots={folder}",
                "--snapshot-every=0.1") as run:
            for name in ["evaluator", "metrics", "checkpointer"]:
                run.wait_for_step(10)
                run.signal(name)
            self.assertGreater(run.result()["accuracy"], 0.9)

    def test_a_mistake_is_named(self):
        for flags, text in [(["--scheme=asynchronus"], "asynchronous"), (["--scheme=backup", "--backups=4"], "backup workers"),
                            (["--scheme=softsync", "--splits=9"], "splits"), (["--data=nowhere.csv"], "nowhere.csv"),
                            (["--rate=1e38", "--model=softmax"], "worker"),
                            (["--scheme=federated", "--rate=1e38", "--hidden=8", "--restarts=2"], "is not finite"), (["--sparse"], "--model=linear"), (["--scheme=ring", "--backups=2"], "it is only for backup"), (["--replicated", "--servers=1"], "two servers"),
                            (["--compression=top_k", "--share=0"], "--share"), (["--rate=1e39"], "a number above 0 that is a finite float"),
                            (["--snapshots=/proc/none"], "--snapshots: cannot write"),
                            (["--replicated", "--checkpoint-every=50"], "servers that are not replicated"),
                            (["--evaluate-every=1", "--curves=nowhere/a.csv"], "--curves: cannot write")]:
            with self.subTest(flags):
                process = launch.run("train", "--launch=processes", *flags)
                self.assertNotEqual(0, process.returncode)
                self.assertIn(text, process.stderr)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
