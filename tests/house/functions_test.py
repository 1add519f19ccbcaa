"""No function has more lines than a reader takes in at once."""

import re
import unittest

import tree

MAXIMUM_LINES = 80  # of a body, from the line of its opening brace to that of its closing brace

# Text that is no code: comments, raw strings, strings and characters. Line ends are kept.
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'",
                     re.DOTALL)
# The beginning of a brace that opens no function: a type, a namespace, a list of values.
NO_FUNCTION = re.compile(r"^(?:template\s*<.*>\s*)?(?:export |inline |constexpr |static )*(?:namespace|class|struct|union|enum|extern)\b|"
                         r"=\s*$|\breturn\b[^()]*$", re.DOTALL)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def functions(text):
    """(line of the opening brace, number of lines) of each function body; lambdas belong to the function around them."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, NO_CODE.sub(blank, text), flags=re.MULTILINE)
    result = []
    depth, function_depth, opened, head = 0, None, 0, 0
    for at, symbol in ((match.start(), match.group(0)) for match in re.finditer(r"[{};]", code)):
        if symbol == "{":
            before = code[head:at].strip()
            if function_depth is None and ")" in before and not NO_FUNCTION.search(before):
                function_depth, opened = depth, at
            depth += 1
        elif symbol == "}":
            depth -= 1
            if depth == function_depth:
                result.append((code.count("\n", 0, opened) + 1, code.count("\n", opened, at) + 1))
                function_depth = None
        head = at + 1
    return result


def complaints(name, text):
    return [f"{name}:{line}: a function of {count} lines, {MAXIMUM_LINES} at most: which parts have names?"
            for line, count in functions(text) if count > MAXIMUM_LINES]


class Functions(unittest.TestCase):
    def test_none_is_too_long(self):
        self.assertEqual([], [one for name, text in tree.sources() for one in complaints(name, text)])

    def test_most_functions_are_seen(self):
        lines = sorted(count for name, text in tree.sources() for _, count in functions(text) if not name.startswith("tests/"))
        self.assertGreater(len(lines), 2500)

    def test_lines_are_counted(self):
        body = "  g('{', \"}\", R\"(})\");  // }\n" * 3
        for head in ["int f(int a) {", "A::A(int a)\n    : a_(a) {", "auto f() -> std::vector<int> {", "template <class T>\nstruct B {\n void f() const {",
                     "namespace a {\nnamespace {\nTEST(A, B) {"]:
            with self.subTest(head):
                closing = "}\n" * head.count("{")
                self.assertEqual([(head.count("\n") + 1, 5)], functions(head + "\n" + body + closing))
        self.assertEqual([], functions("constexpr int kTable[] = {\n 1, (2),\n};\nstruct alignas(64) A {\n int a;\n};\n"))


if __name__ == "__main__":
    unittest.main()
