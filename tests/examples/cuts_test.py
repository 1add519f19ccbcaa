"""The cuts of every scheme are listed, shown and exported, and the model is in them. Usage: cuts_test.py FOLDER LP"""

import array
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import launch

SIZE = 1210  # parameters
# Files with the parameters, where it is not the servers that hold them. A state begins with them.
EXPORTED = {"partitioned": "worker@0/parameters.npy", "hogwild": "vector/values.npy", "federated": "rounds/state.npy",
            "pipeline": "stage@*/parameters.npy", **dict.fromkeys(["ring", "local_sgd", "bmuf"], "commits/0@state.npy")}


def numbers_in(file):
    """The numbers of an .npy file of 32-bit floats."""
    content = file.read_bytes()
    assert content.startswith(b"\x93NUMPY") and b"'<f4'" in content, file
    return array.array("f", content[10 + int.from_bytes(content[8:10], "little"):])


class Cuts(unittest.TestCase):
    def lp(self, *arguments):
        process = subprocess.run([LP, "checkpoint", *arguments], capture_output=True, text=True, timeout=launch.PATIENCE)
        self.assertEqual(0, process.returncode, process.stderr)
        return process.stdout

    def model(self, exported, pattern):
        files = sorted(exported.glob(pattern))
        self.assertTrue(files, pattern)
        return list(itertools.chain.from_iterable(numbers_in(file)[:SIZE] for file in files))

    def test_every_scheme_has_a_cut_at_its_end(self):
        for scheme in [line.split()[0] for line in launch.run("train", "--list").stdout.splitlines()]:
            with self.subTest(scheme), tempfile.TemporaryDirectory() as directory:
                launch.result("train", "--launch=threads", f"--scheme={scheme}", "--steps=4", "--hidden=4", f"--directory={directory}/run")
                self.assertEqual(1, len(json.loads(self.lp("list", "--json", f"{directory}/run"))["checkpoints"]))

    def test_a_run_that_had_nothing_left_to_do_is_resumed(self):
        for scheme in ["synchronous", "ring"]:
            with self.subTest(scheme), tempfile.TemporaryDirectory() as directory:
                flags = ["--launch=threads", "--hidden=4"]
                launch.result("train", *flags, f"--scheme={scheme}", "--steps=4", f"--directory={directory}/1")
                launch.result("train", *flags, f"--resume={directory}/1", f"--directory={directory}/2")
                result = launch.result("train", *flags, f"--resume={directory}/2", "--steps=8", f"--directory={directory}/3")
                self.assertEqual(8, result["updates"])

    def test_the_cuts_of_every_scheme_are_listed_shown_and_exported_with_the_model(self):
        schemes = [line.split()[0] for line in launch.run("train", "--list").stdout.splitlines()]
        self.assertEqual(23, len(schemes))
        for scheme in schemes:
            with self.subTest(scheme), tempfile.TemporaryDirectory() as directory:
                folder = pathlib.Path(directory)
                steps, every = (4, 2) if scheme == "federated" else (40, 10)
                launch.result("train", "--launch=threads", f"--scheme={scheme}", f"--steps={steps}", f"--checkpoint-every={every}", "--hidden=16",
                              f"--directory={folder}/run", f"--save={folder}/model.lpm")
                listed = json.loads(self.lp("list", "--json", f"{folder}/run"))
                self.assertTrue(listed["checkpoints"])
                self.assertEqual([], listed["problems"])
                shown = json.loads(self.lp("show", "--json", f"{folder}/run"))
                self.assertEqual(listed["checkpoints"][-1]["step"], shown["step"])
                self.lp("export", f"{folder}/run", "-o", f"{folder}/exported")
                self.lp("export", f"{folder}/model.lpm", "-o", f"{folder}/kept")
                if scheme == "gossip":  # the model is the mean of these, by their weights
                    self.assertEqual(4 * SIZE, len(self.model(folder / "exported", "commits/*@state.npy")))
                    continue
                learned = self.model(folder / "exported", EXPORTED.get(scheme, "server@*/*parameters.npy"))
                filled_up = [0.0] * (len(learned) - SIZE if scheme == "stale_synchronous" else 0)
                self.assertEqual(sorted(self.model(folder / "kept", "**/parameters.npy") + filled_up), sorted(learned))


if __name__ == "__main__":
    launch.FOLDER, LP = map(pathlib.Path, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
