"""The choice of a device: said in the plan, and refused before anything starts. Usage: device_test.py FOLDER DRIVER

DRIVER is the folder of a stand-in for the driver's library, which has the GPUs that a file lists."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

import launch

COMPUTING = {"digits": ["worker"], "train": ["worker"], "es": ["learner", "worker"]}
ONE_GPU = "driver 999.0 99000\ngpu GPU-aa 85899345920 0 0 NVIDIA H100\n"
NO_TOOLKIT = "without the CUDA toolkit"


class Device(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = {name: os.environ.get(name) for name in ["NVML_STAND_IN", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"]}
        self.addCleanup(lambda: [os.environ.pop(name, None) if old is None else os.environ.update({name: old})
                                 for name, old in before.items()])
        os.environ["LD_LIBRARY_PATH"] = DRIVER
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        self.host_has("")
        self.has_toolkit = NO_TOOLKIT not in launch.run("digits", "--dry-run", "--device=cuda").stderr

    def host_has(self, facts):
        (self.folder / "facts").write_text(facts)
        os.environ["NVML_STAND_IN"] = str(self.folder / "facts")

    def devices(self, name, *flags):
        """By group, where the plan of an example says that it computes."""
        process = launch.run(name, "--dry-run", "--json", *flags)
        self.assertEqual(0, process.returncode, process.stderr)
        groups = json.loads(process.stdout)["groups"]
        return {group["name"]: group["device"] for group in groups if "device" in group}

    def refusal(self, name, *flags):
        """The one sentence with which an example ends."""
        directory = self.folder / "run"
        process = launch.run(name, f"--directory={directory}", *flags)
        self.assertEqual(2, process.returncode, process.stderr)
        self.assertEqual("", process.stdout)
        self.assertEqual(1, process.stderr.count("\n"), process.stderr)
        self.assertFalse(directory.exists())
        return process.stderr

    def test_without_a_driver_the_gpu_is_refused_and_the_choice_is_the_host(self):
        expected = "computes on the device cuda, but this host has no usable NVIDIA driver"
        for name, groups in COMPUTING.items():
            for how in ["threads", "processes"]:
                sentence = self.refusal(name, "--device=cuda", f"--launch={how}")
                self.assertIn(expected if self.has_toolkit else NO_TOOLKIT, sentence)
            for device in ["cpu", "auto"]:
                self.assertEqual({group: "cpu" for group in groups}, self.devices(name, f"--device={device}"))

    def test_a_driver_that_is_too_old_or_sees_no_gpu_is_refused(self):
        for facts, expected in [("driver 470.10 11040\ngpu GPU-aa 85899345920 0 0 NVIDIA H100\n",
                                 "the driver 470.10 of this host knows CUDA 11.4, and this program was built with CUDA "),
                                ("driver 999.0 99000\n", "the driver 999.0 of this host sees no GPU")]:
            self.host_has(facts)
            for name, groups in COMPUTING.items():
                self.assertIn(expected if self.has_toolkit else NO_TOOLKIT, self.refusal(name, "--device=cuda"))
                self.assertEqual({group: "cpu" for group in groups}, self.devices(name, "--device=auto"))

    def test_with_a_gpu_the_plan_says_it(self):
        self.host_has(ONE_GPU)
        chosen = "cuda" if self.has_toolkit else "cpu"
        for name, groups in COMPUTING.items():
            for device in ["auto", chosen]:
                self.assertEqual({group: chosen for group in groups}, self.devices(name, f"--device={device}"))
            self.assertIn(f"device {chosen}", launch.run(name, "--dry-run", "--device=auto").stdout)

    def test_other_hosts_are_not_asked(self):
        process = launch.run("digits", "--dry-run", "--device=cuda", "--launch=ssh", "--hosts=a")
        self.assertIn("device cuda" if self.has_toolkit else NO_TOOLKIT, process.stdout + process.stderr)

    def test_a_group_that_would_see_no_gpu_is_refused(self):
        self.host_has(ONE_GPU)
        (self.folder / "groups.yaml").write_text("groups: {server: {gpus: 1}}\n")
        sentence = self.refusal("digits", "--device=cuda", "--launch=processes", f"--config={self.folder}/groups.yaml")
        expected = "worker computes on the device cuda, but sees no GPU"
        self.assertIn(expected if self.has_toolkit else NO_TOOLKIT, sentence)

    def test_what_computes_on_the_host_alone_says_so(self):
        self.host_has(ONE_GPU)
        self.assertEqual({"learner": "cpu", "worker": "cpu"}, self.devices("es", "--method=cma", "--device=auto"))
        for device in ["cpu", "cuda", "auto"]:
            sentence = self.refusal("train", "--scheme=pipeline", f"--device={device}")
            self.assertIn("--device has no effect with the scheme pipeline", sentence)


if __name__ == "__main__":
    launch.FOLDER, DRIVER = pathlib.Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
