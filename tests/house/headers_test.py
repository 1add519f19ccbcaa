"""Every header compiles alone. Usage: headers_test.py COMPILER OPTION...

The first include of a .cc file shows it whenever the file is built; headers that are nobody's first are compiled here.
One compiler takes several headers, each of which includes the one before it: that one is alone when it is compiled, and
adds nothing to those that follow, because they include it anyway. For the same reason, a large header that many include
is precompiled once, and comes before all of those.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tree

LARGE = "lp/rpc/client.h"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def first_include(text):
    match = INCLUDE.search(text)
    return match and match[1]


def sorted_out(texts):
    """A sentence for each .cc file in {name: text} that includes something before its header; and the headers that have
    no .cc file and are not the first include of their test either."""
    wrong, rest = [], []
    for header in sorted(name for name in texts if name.endswith(".h") and not name.startswith("tests/")):
        source = header[:-2] + ".cc"
        if source in texts:
            first = first_include(texts[source])
            if first != header:
                wrong.append(f"{source}: includes {first} before {header}, which may not compile without it")
        elif first_include(texts.get(f"tests/{header[:-2]}_test.cc", "")) != header:
            rest.append(header)
    return wrong, rest


def included_by(header, texts):
    """The project's headers that a header includes, directly or through others."""
    found, new = set(), {header}
    while new:
        new = {name for one in new for name in INCLUDE.findall(texts[one]) if name in texts} - found
        found |= new
    return found


def rows_of(headers, texts):
    """The headers in few rows, in which each header includes the one before it."""
    included = {header: included_by(header, texts) for header in headers}
    rows = []
    for header in sorted(headers, key=lambda one: len(included[one])):
        fitting = [row for row in rows if row[-1] in included[header]]
        if fitting:
            max(fitting, key=lambda row: len(included[row[-1]])).append(header)
        else:
            rows.append([header])
    return rows


def with_and_without(large, headers, texts):
    """The headers that include a large one, and those that do not."""
    including = [header for header in headers if large in included_by(header, texts)]
    return including, [header for header in headers if header not in including]


class Headers(unittest.TestCase):
    compiler = []

    def errors(self, row, folder=tree.ROOT):
        """The compiler's message for a row of headers, one of which does not compile alone; empty if all do. What is
        precompiled in `folder` is not compiled again."""
        includes = [word for header in row for word in ("-include", header)]
        result = subprocess.run([*self.compiler, "-fsyntax-only", "-x", "c++", *includes, "/dev/null"], cwd=folder,
                                stderr=subprocess.PIPE, text=True)
        return f"{row[-1]}, or one of {row[:-1]}, does not compile alone: {result.stderr}" if result.returncode != 0 else ""

    def precompile(self, header, folder):
        precompiled = pathlib.Path(folder, header + ".gch")
        precompiled.parent.mkdir(parents=True)
        subprocess.run([*self.compiler, "-w", "-x", "c++-header", tree.ROOT / header, "-o", precompiled], check=True)

    def test_every_header_compiles_alone(self):
        texts = dict(tree.sources())
        wrong, rest = sorted_out(texts)
        including, others = with_and_without(LARGE, rest, texts)
        with tempfile.TemporaryDirectory() as folder:
            self.precompile(LARGE, folder)
            wrong += filter(None, (self.errors([LARGE, *row], folder) for row in rows_of(including, texts)))
        wrong += filter(None, map(self.errors, rows_of(others, texts)))
        if wrong:
            self.fail("\n".join(wrong))

    def test_a_header_that_needs_another_is_found_behind_a_precompiled_one(self):
        with tempfile.TemporaryDirectory() as folder:
            self.precompile("lp/base/error.h", folder)
            header = pathlib.Path(folder, "own.h")
            for text, compiles in [("std::deque<int> x();", False), ("std::string x();", True)]:
                header.write_text(f'#pragma once\n#include "lp/base/error.h"\n{text}\n')
                self.assertEqual(compiles, self.errors(["lp/base/error.h", str(header)], folder) == "")

    def test_a_header_that_needs_another_is_found(self):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write("#pragma once\nstd::string x();\n")
            header.flush()
            for row in [[header.name], [header.name, "lp/base/error.h"], ["lp/base/fields_apply.h", header.name]]:
                self.assertIn("does not compile alone", self.errors(row))

    def test_a_row_has_headers_that_include_the_one_before(self):
        texts = {"a.h": "", "b.h": '#include "a.h"\n', "c.h": '#include "b.h"\n', "d.h": '#include "a.h"\n', "e.h": ""}
        rows = rows_of(["c.h", "a.h", "d.h", "e.h"], texts)
        self.assertEqual([["a.h", "d.h"], ["c.h"], ["e.h"]], sorted(rows))
        self.assertEqual({"a.h", "b.h"}, included_by("c.h", texts))
        self.assertEqual((["c.h"], ["e.h", "b.h"]), with_and_without("b.h", ["c.h", "e.h", "b.h"], texts))

    def test_a_header_is_the_first_include_of_its_source_or_its_test_or_is_compiled(self):
        own, other = '#include "nodes/a.h"\n', "#include <vector>\n"
        for files, expected in [
            ({"nodes/a.cc": own + other}, (0, [])),
            ({"nodes/a.cc": "// A.\n" + other + own}, (1, [])),
            ({"nodes/a.cc": ""}, (1, [])),
            ({"nodes/a.cc": other, "tests/nodes/a_test.cc": own}, (1, [])),
            ({"tests/nodes/a_test.cc": own}, (0, [])),
            ({"tests/nodes/a_test.cc": other + own}, (0, ["nodes/a.h"])),
            ({"nodes/b.cc": own}, (0, ["nodes/a.h"])),
        ]:
            with self.subTest(files=files):
                wrong, rest = sorted_out({"nodes/a.h": "", **files})
                self.assertEqual(expected, (len(wrong), rest))


if __name__ == "__main__":
    Headers.compiler = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
