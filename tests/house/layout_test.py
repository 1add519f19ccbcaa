"""clang-format has nothing to change."""

import shutil
import subprocess
import sys
import unittest

import tree


class Layout(unittest.TestCase):
    def test_clang_format_has_nothing_to_change(self):
        names = [name for name, _ in tree.sources()] + [name for name, path in tree.files() if path.suffix == ".js"]
        result = subprocess.run(["clang-format", "--dry-run", "--Werror", *names], cwd=tree.ROOT,
                                capture_output=True, text=True)
        wrong = sorted({line.split(":")[0] for line in result.stderr.splitlines() if "error:" in line})
        self.assertEqual((0, []), (result.returncode, wrong), "run: clang-format -i FILE")


if __name__ == "__main__":
    if shutil.which("clang-format") is None:
        print("skipped: there is no clang-format")
        sys.exit(77)
    unittest.main()
