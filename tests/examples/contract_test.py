"""The rules for every example. Usage: contract_test.py FOLDER NAME..."""

import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import launch

NAMES = []
LAUNCHES = ["threads", "processes"]
SHORT = {"inference": ["--seconds=0.1"]}  # flags of an example that measures for a given time


class Contract(unittest.TestCase):
    def each(self):
        for name in NAMES:
            with self.subTest(name):
                yield name

    def test_the_last_line_is_one_json_object(self):
        for name in self.each():
            for how in LAUNCHES:
                process = launch.run(name, f"--launch={how}", "--seed=3", "--json", *SHORT.get(name, []))
                self.assertEqual(0, process.returncode, process.stderr)
                lines = process.stdout.splitlines()
                self.assertEqual(1, len(lines), "everything else is printed on standard error")
                result = json.loads(lines[-1])
                self.assertEqual((how, True), (result["launch"], result["success"]))

    def test_it_prints_something_for_people(self):
        for name in self.each():
            process = launch.run(name, *SHORT.get(name, []))
            self.assertEqual(0, process.returncode, process.stderr)
            self.assertGreater(len(process.stdout), 0)

    def test_it_plans(self):
        for name in self.each():
            text = launch.run(name, "--dry-run")
            self.assertEqual(0, text.returncode, text.stderr)
            plan = launch.run(name, "--dry-run", "--json")
            self.assertEqual(0, plan.returncode, plan.stderr)
            for node in json.loads(plan.stdout)["nodes"]:
                self.assertIn(node["name"].split("/")[0], text.stdout)

    def test_it_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in self.each():
                drawing = pathlib.Path(folder, name)
                for suffix in [".svg", ".dot"]:
                    process = launch.run(name, f"--graph={drawing}{suffix}")
                    self.assertEqual(0, process.returncode, process.stderr)
                xml.etree.ElementTree.parse(f"{drawing}.svg")
                self.assertIn("->", pathlib.Path(f"{drawing}.dot").read_text())

    def test_it_reads_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("launch:\n  launch: processes\n")
            file.flush()
            for name in self.each():
                self.assertEqual("processes", launch.result(name, f"--config={file.name}", *SHORT.get(name, []))["launch"])

    def test_a_mistake_ends_it_at_once(self):
        for name in self.each():
            process = launch.run(name, "--sed=3")
            self.assertEqual(2, process.returncode)
            self.assertIn("--seed", process.stderr)
            self.assertEqual("", process.stdout)


if __name__ == "__main__":
    launch.FOLDER = pathlib.Path(sys.argv[1])
    NAMES = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
