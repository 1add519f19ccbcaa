"""Every header compiles alone. Usage: headers_test.py COMPILER OPTION...

The first include of a .cc file shows it whenever the file is built; headers that are nobody's first are compiled here.
"""

import concurrent.futures
import re
import subprocess
import sys
import tempfile
import unittest

import tree

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


class Headers(unittest.TestCase):
    compiler = []

    def errors(self, header):
        """The compiler's message for a header that does not compile alone; empty for one that does."""
        result = subprocess.run([*self.compiler, "-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"],
                                cwd=tree.ROOT, stderr=subprocess.PIPE, text=True)
        return f"{header} does not compile alone: {result.stderr}" if result.returncode != 0 else ""

    def test_every_header_compiles_alone(self):
        wrong, rest = sorted_out(dict(tree.sources()))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong += filter(None, pool.map(self.errors, rest))
        if wrong:
            self.fail("\n".join(wrong))

    def test_a_header_that_needs_another_is_found(self):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as header:
            header.write("#pragma once\nstd::string x();\n")
            header.flush()
            self.assertIn(f"{header.name} does not compile alone", self.errors(header.name))

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
