"""Every command on a page of an example works, in the order of the page. Usage: pages_test.py FOLDER"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import launch

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {"csv_groupby", "dqn", "es", "impala", "inference", "inverted_index", "join", "kappa", "kmeans", "pagerank", "ppo",
         "sessions", "sort", "stream_wordcount", "td3", "wordcount"}


class Pages(unittest.TestCase):
    build = None

    def test_every_command_works(self):
        pages = sorted((ROOT / "examples").glob("*.md"))
        self.assertLessEqual(PAGES, {page.stem for page in pages})
        for page in pages:
            blocks = BLOCK.findall(page.read_text())
            self.assertIn(f"build/examples/{page.stem} ", "".join(blocks))
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "build").symlink_to(self.build)
                for block in blocks:
                    with self.subTest(page=page.name, block=block):
                        result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block], cwd=folder,
                                                timeout=launch.PATIENCE,
                                                env={"XDG_STATE_HOME": f"{folder}/state", "PATH": "/usr/bin:/bin"},
                                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                stderr=subprocess.STDOUT, text=True)
                        self.assertEqual(0, result.returncode, result.stdout)


if __name__ == "__main__":
    Pages.build = pathlib.Path(sys.argv[1]).parent
    unittest.main(argv=sys.argv[:1])
