"""The commands of programs/README.md that keep a model, with every scheme. Usage: keep_test.py FOLDER"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import launch

sys.path.append(str(pathlib.Path(__file__).parents[1] / "house"))
import readme  # noqa: E402
import tree  # noqa: E402

COMMANDS = [line for block in readme.blocks("programs/README.md", "sh") for line in block.splitlines()]
EXAMPLES = 597  # examples in second.csv


class Keep(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        (self.folder / "programs").symlink_to(tree.ROOT / "programs")
        (self.folder / "build").mkdir()
        (self.folder / "build" / "examples").symlink_to(launch.FOLDER.resolve())

    def run_here(self, command):
        process = subprocess.run(command, shell=True, cwd=self.folder, timeout=launch.PATIENCE, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "XDG_STATE_HOME": str(self.folder)})
        self.assertEqual(0, process.returncode, f"$ {command}\n{process.stdout}{process.stderr}")
        return process.stdout

    def accuracy(self):
        return json.loads(self.run_here("build/examples/train --json --evaluate=digits.lpm --data=second.csv"))["accuracy"]

    def test_every_scheme_keeps_its_model_and_goes_on_from_it(self):
        schemes = [line.split()[0] for line in launch.run("train", "--list").stdout.splitlines()]
        self.assertEqual(23, len(schemes))
        cut, train, evaluate, predict, go_on = COMMANDS
        self.run_here(cut)
        labels = [line.rsplit(",", 1)[1] for line in (self.folder / "second.csv").read_text().splitlines()]
        for scheme in schemes:
            with self.subTest(scheme):
                self.run_here(train.replace("=ring", f"={scheme}"))
                first = self.accuracy()
                self.assertGreater(first, 0.85)
                self.assertIn(f"{first:.4f}", self.run_here(evaluate))
                self.run_here(predict)
                classes = (self.folder / "classes.txt").read_text().splitlines()
                self.assertEqual(EXAMPLES, len(classes))
                self.assertAlmostEqual(first, sum(map(str.__eq__, classes, labels)) / EXAMPLES)
                self.run_here(go_on.replace("=ring", f"={scheme}"))
                self.assertGreater(self.accuracy(), first)

    def test_processes_go_on_from_where_the_model_is(self):
        self.run_here(COMMANDS[0])
        for scheme in ["synchronous", "partitioned", "ring", "hogwild", "gossip", "federated", "pipeline", "outer_product"]:
            with self.subTest(scheme):
                self.run_here(f"build/examples/train --scheme={scheme} --data=first.csv --scale --steps=200 --save=digits.lpm")
                first = self.accuracy()
                self.run_here(f"build/examples/train --scheme={scheme} --data=first.csv --init=digits.lpm --steps=1 --rate=1e-6 "
                              "--launch=processes --save=digits.lpm")
                self.assertAlmostEqual(first, self.accuracy(), delta=0.005)

    def test_large_features_get_a_hint(self):
        (self.folder / "large.csv").write_text("".join(f"{i * 100},{i % 2}\n" for i in range(100)))
        for flags, hinted in [([], True), (["--scale"], False)]:
            process = launch.run("train", f"--data={self.folder}/large.csv", "--steps=20", *flags)
            self.assertEqual(0, process.returncode, process.stderr)
            self.assertEqual(hinted, "--scale may" in process.stderr)

    def test_names_of_classes_stay(self):
        (self.folder / "first.csv").write_text("width,kind\n" + "".join(f"{i},{'wide' if i > 50 else 'narrow'}\n" for i in range(100)))
        (self.folder / "new.csv").write_text("width\n3\n99\n")
        self.run_here("build/examples/train --data=first.csv --scale --model=linear --rate=1 --save=widths.lpm")
        self.assertEqual("narrow\nwide\n", self.run_here("build/examples/train --predict=widths.lpm --data=new.csv"))

    def test_labels_minus_one_and_plus_one_are_predicted_as_such(self):
        (self.folder / "first.csv").write_text("".join(f"{i},{1 if i > 50 else -1}\n" for i in range(100)))
        (self.folder / "new.csv").write_text("3\n99\n")
        self.run_here("build/examples/train --data=first.csv --scale --model=linear --rate=1 --save=signs.lpm")
        self.assertEqual("-1\n1\n", self.run_here("build/examples/train --predict=signs.lpm --data=new.csv"))

    def test_an_evaluation_asks_for_labels_that_may_be_missing(self):
        (self.folder / "first.csv").write_text("".join(f"{i},{2 * i},{i % 2}\n" for i in range(20)))
        (self.folder / "unlabelled.csv").write_text("3,1\n9,0\n")
        self.run_here("build/examples/train --data=first.csv --steps=5 --save=m.lpm")
        command = launch.command("train", f"--evaluate={self.folder}/m.lpm", f"--data={self.folder}/unlabelled.csv")
        process = subprocess.run(command, capture_output=True, text=True, timeout=launch.PATIENCE)
        self.assertIn("has examples of 1 features, but the model takes 2: are its labels missing?", process.stderr)

    def test_a_resumed_run_counts_the_steps_of_its_first_model_once(self):
        for flags in ["--steps=100", "--steps=200 --init=s.lpm --directory=second", "--steps=250 --resume=second"]:
            save = "" if "--resume" in flags else "--save=s.lpm"
            self.run_here(f"build/examples/train {flags} {save} --snapshots=all")
        show = f"{launch.FOLDER.parent}/tools/lp/lp checkpoint show"
        self.assertIn("step 350", self.run_here(f"{show} s.lpm"))
        for step in [100, 300, 350]:  # each training saves one at its end
            self.assertIn(f"step {step}", self.run_here(f"{show} all/parameters-{step}.lpc"))

    def test_nodes_that_are_restarted_have_the_first_model_though_its_file_is_gone(self):
        first = self.folder / "first.lpm"
        for scheme in ["synchronous", "partitioned", "gossip", "ring"]:
            with self.subTest(scheme):
                self.run_here("build/examples/train --steps=10 --save=first.lpm")
                with launch.Launch("train", f"--scheme={scheme}", f"--init={first}", "--launch=processes", "--restarts=2", "--checkpoint-every=20",
                                   "--steps=2000") as run:
                    run.wait_for_step(20)
                    first.unlink()
                    run.signal("worker/1")
                    self.assertTrue(run.result()["success"])

    def test_a_run_that_cannot_write_its_files_names_all_and_has_its_result(self):
        gone = self.folder / "gone"
        gone.mkdir()
        with launch.Launch("train", f"--save={gone}/m.lpm", f"--curves={gone}/c.csv", "--evaluate-every=0.01", "--steps=3000") as run:
            run.wait_for_step(1)
            shutil.rmtree(gone)
            (pathlib.Path(run.directory) / "model.lpm").mkdir()
            self.assertEqual(1, run.wait())
            result = run.last_line()
        self.assertEqual("report", result["failed_node"])
        self.assertIn(f"the curves could not be saved: cannot write {gone}/c.csv: No such file or directory", result["cause"])
        self.assertIn(f"the model could not be saved: cannot write {gone}/m.lpm: No such file or directory", result["cause"])
        self.assertIn("so the model is lost", result["cause"])
        self.assertIn("run/model.lpm", result["cause"])
        self.assertEqual(3000, result["updates"])
        self.assertGreater(result["accuracy"], 0.9)
        self.assertEqual(16, len(result["parameters_hash"]))

    def test_a_result_for_a_closed_output_is_lost(self):
        command = f"{launch.FOLDER}/train --steps=2 --json --directory={self.folder}/closed >&-"
        self.assertEqual(1, subprocess.run(command, shell=True, timeout=launch.PATIENCE).returncode)

    def test_a_resumed_run_that_has_done_its_steps_says_so(self):
        self.run_here("build/examples/train --steps=100 --directory=done")
        process = subprocess.run(launch.command("train", "--resume=done", "--steps=50"), cwd=self.folder, capture_output=True, text=True,
                                 timeout=launch.PATIENCE, env={**os.environ, "XDG_STATE_HOME": str(self.folder)})
        self.assertIn("the model had already 100 updates, more than --steps=50", process.stderr)

    def test_a_model_that_has_diverged_replaces_none(self):
        kept = self.folder / "kept.lpm"
        self.run_here("build/examples/train --steps=10 --save=kept.lpm")
        before = kept.read_bytes()
        process = launch.run("train", "--rate=1e38", "--bad-values=pass", "--steps=100", f"--save={kept}")
        self.assertEqual(1, process.returncode)
        self.assertIn("it has numbers that are not finite", process.stderr)
        self.assertEqual(before, kept.read_bytes())

    def test_what_cannot_be_used_or_kept_is_refused(self):
        (self.folder / "foreign.lpm").write_text("1,2,3\n" * 100)
        for flags, said in [(["--evaluate=foreign.lpm"], "does not begin like a checkpoint"), (["--predict=nowhere.lpm"], "No such file"),
                            (["--init=foreign.lpm"], "does not begin like a checkpoint"), (["--evaluate=a", "--predict=b"], "not both"), (["--evaluate="], "need the file of a model"),
                            (["--evaluate=a", "--workers=2"], "unknown flag"), (["--predict=a", "--json"], "--json has no effect with --predict"),
                            (["--evaluate=a", "--predictions="], "--predictions has no effect with --evaluate"),
                            (["--predict=a", "--predictions="], "--predictions= names no file"), (["--evaluate=a", "--config="], "--config= names no file"),
                            (["--save=nowhere/digits.lpm"], "there is no directory"),
                            (["--save=foreign.lpm"], "is there, and is no saved model")]:
            with self.subTest(flags):
                process = subprocess.run(launch.command("train", *flags), cwd=self.folder, timeout=launch.PATIENCE, stdin=subprocess.DEVNULL,
                                         text=True, capture_output=True, env={**os.environ, "XDG_STATE_HOME": str(self.folder)})
                self.assertNotEqual(0, process.returncode)
                self.assertIn(said, process.stderr)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
