"""Records and bytes between the stages of a pipeline, as `lp graph` draws them. Usage: graph_test.py FOLDER LP"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import launch

LINKS = 300


def graph(directory, *flags):
    return subprocess.run([LP, "graph", directory, "--interval=0.1", *flags], check=True, capture_output=True, text=True, timeout=launch.PATIENCE).stdout


def records(directory):
    """By the names of two stages."""
    edges = json.loads(graph(directory, "--json"))["edges"]
    return {(edge["caller"], edge["callee"]): edge["records"] for edge in edges if "records" in edge}


class Graph(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.input = self.folder / "input"
        self.input.write_text("".join(f"{page} {(page + 1) % LINKS}\n" for page in range(LINKS)))

    def test_a_run_that_has_ended_has_all_records_at_its_arrows(self):
        directory = self.folder / "run"
        result = launch.result("pagerank", f"--pipeline.input={self.input}", f"--pipeline.into={self.folder}/ranks", "--rounds=1",
                               f"--directory={directory}", "--launch=processes")
        expected = {("lines", "pages"): 2 * LINKS, ("pages", "sorted"): LINKS, ("sorted", "round0"): LINKS,
                    ("sorted", "round1"): LINKS, ("round0", "round1"): LINKS}
        self.assertEqual(expected, records(directory))
        self.assertEqual(expected, {(edge["from"], edge["to"]): edge["records"] for edge in result["edges"]})
        self.assertRegex(graph(directory, "--dot"), r'"round0" -> "round1" \[label="300 records, [0-9.]+kB"\]')

    def test_a_run_that_goes_on_has_those_up_to_its_last_checkpoint(self):
        with launch.Launch("sessions", f"--pipeline.input={self.input}", "--pipeline.follow", f"--pipeline.until={self.folder}/end",
                           f"--pipeline.into={self.folder}/sessions", "--pipeline.checkpoint_ms=20", "--launch=processes") as run:
            end = time.monotonic() + launch.PATIENCE
            while not (shown := drawn(run.directory)) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual([LINKS], list(shown.values()))
            self.assertRegex(graph(run.directory, "--dot"), r'label="300 records, [0-9.]+kB, [0-9.k]+/s')


def drawn(directory):
    """The records of a run that may just begin."""
    try:
        return records(directory)
    except subprocess.CalledProcessError:
        return {}


if __name__ == "__main__":
    launch.FOLDER, LP = map(pathlib.Path, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
