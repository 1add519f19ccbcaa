"""A file has one purpose, a name for it, and no unfinished parts."""

import os
import re
import unittest

import tree

TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE",
             "lp", "nodes", "launchers", "programs", "examples", "tests", "tools"}
PROPER_NAMES = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "lp-config.cmake.in"}
SNAKE_CASE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*$")
TEXT = {".h", ".cc", ".cu", ".py", ".md", ".cmake", ".txt", ".json", ".fbs", ".sh", ".yaml", ""}
SELF = "tests/house/files_test.py"
MAXIMUM_LINES = 500

UNDONE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE = re.compile(r"(?<![\w.])/(work|root|home|tmp/lpw)/")
SEAM = re.compile(r"sleep_for|sleep_until|\busleep\(|(system|steady|high_resolution)_clock::now|random_device|"
                  r"std::(jthread|thread|condition_variable|async|this_thread::yield)\b")
LINK = re.compile(r"\[[^][]+\]\(([^)# ]+)(?:#[^)]*)?\)")


def complaints(name, text):
    """A sentence for each rule that the text file `name` breaks."""
    lines = text.split("\n")
    result = []
    if len(lines) - 1 > MAXIMUM_LINES and name != "LICENSE" and not name.startswith("tests/fuzz/corpus/"):
        result.append(f"{name}: {len(lines) - 1} lines, {MAXIMUM_LINES} at most: it is probably two things")
    if name.endswith(".h") and (lines[0] != "#pragma once" or not lines[1].startswith("//")):
        result.append(f"{name}: a header begins with #pragma once and a comment that says what it is")
    for number, line in enumerate(lines, 1):
        if UNDONE.search(line):
            result.append(f"{name}:{number}: left undone: {line.strip()}")
        if MACHINE.search(line):
            result.append(f"{name}:{number}: the path of one machine: {line.strip()}")
        if name.endswith((".h", ".cc", ".cu")) and not name.startswith("lp/base/") and SEAM.search(line.split("//")[0]):
            result.append(f"{name}:{number}: time, threads and randomness come from lp/base: {line.strip()}")
        if line != line.rstrip() and not name.endswith(".md"):
            result.append(f"{name}:{number}: trailing space")
    return result


def name_complaints(name):
    parts = name.split("/")
    if parts[0] not in TOP_LEVEL and not parts[0].startswith("."):
        return [f"{name}: the top level holds only {', '.join(sorted(TOP_LEVEL))}"]
    if name.startswith("tests/fuzz/corpus/") or parts[-1] in PROPER_NAMES or parts[-1].startswith("."):
        return []
    return [f"{name}: {part} is not snake_case" for part in parts if not SNAKE_CASE.match(part) and not part.startswith(".")]


class Files(unittest.TestCase):
    def test_the_tree_keeps_the_rules(self):
        found = []
        for name, path in tree.files():
            found += name_complaints(name)
            if path.suffix in TEXT and name != SELF and not name.startswith("tests/fuzz/corpus/"):
                found += complaints(name, path.read_text())
        self.assertEqual([], found)

    def test_scripts_can_be_run(self):
        for name in ["tools/demo", "tools/test", ".ci/run"]:
            self.assertTrue(os.access(tree.ROOT / name, os.X_OK), name)

    def test_links_of_pages_lead_somewhere(self):
        broken = [f"{name}: {link}" for name, path in tree.files() if name.endswith(".md")
                  for link in LINK.findall(path.read_text()) if "://" not in link and not (path.parent / link).exists()]
        self.assertEqual([], broken)

    def test_what_breaks_a_rule_is_found(self):
        for name, text in [
            ("lp/rpc/a.cc", "int x;\n" * (MAXIMUM_LINES + 1)),
            ("lp/rpc/a.h", "// Something.\n#pragma once\n"),
            ("lp/rpc/a.h", "#pragma once\n\n#include <vector>\n"),
            ("nodes/a.cc", "// TODO: the rest\n"),
            ("tools/demo", "cd /work/project\n"),
            ("nodes/a.cc", "std::this_thread::sleep_for(1s);\n"),
            ("launchers/a.cc", "std::thread t;\n"),
            ("tests/nodes/a_test.cc", "auto now = std::chrono::steady_clock::now();\n"),
        ]:
            with self.subTest(name=name, text=text[:40]):
                self.assertEqual(1, len(complaints(name, text)))
        for name in ["extra/a.h", "lp/Base/a.h", "nodes/ReplayBuffer.h", "tools/run-all"]:
            with self.subTest(name):
                self.assertEqual(1, len(name_complaints(name)))


if __name__ == "__main__":
    unittest.main()
