"""Comments and pages are plain English, as far as a machine can tell.

A sentence has a subject, a verb and an object. The checks find habits that make a reader stop: a bare "who" or "what" as
a subject, a comment that begins with "of" or with a possessive, verbs of people for machines, and long lines.
"""

import re
import unittest

import tree

LONGEST_LINE = 120

SENTENCE = re.compile(r"\d+\. `")  # one that lp prints, quoted whole
COMPILER = re.compile(r"\b(?:prints|shows): .*")  # words of a compiler, quoted in tests/mistakes

# (what is wrong, pattern over one comment joined into one line)
HABITS = [
    ('a sentence begins with a bare "who", "whoever" or "what"',
     re.compile(r"(?:^|[.;:!] )(?:Who|who|Whoever|whoever|What|what)(?: \w+){0,3} (?:has|have|is|are|was|were|does|do|gets|goes|comes|may|must|"
                r"waits|sends|asks|calls|reads|dies|knows|wants|needs|makes|takes|starts|gives|uses|still|only|cannot|can|"
                r"will|would|already|then|else|never|always)\b")),
    ('a comment begins with "of"', re.compile(r"^[Oo]f ")),
    ('a comment is only a possessive', re.compile(r"^(?:its|theirs|his|their own|its own)[.,;]?$")),
    ('a verb of people for machines: send, poll, notify, assign, log or update says it',
     re.compile(r"\b(?:is|are|was|were|be|been) (?:told|heard|said)\b|\b(?:hears|obeys|tells|says)\b")),
]
COMMENT = re.compile(r"^[ \t]*//[ ]?(.*)$|(?<=[;{},)])[ \t]+//[ ]?(.*)$")


def comments(text):
    """(line number, text) of each comment: lines that follow one another are one."""
    result = []
    previous = None
    for number, line in enumerate(text.split("\n"), 1):
        match = COMMENT.search(line)
        if match is None:
            previous = None
            continue
        alone = match.group(1) is not None
        words = (match.group(1) if alone else match.group(2)).strip()
        if alone and previous == number - 1 and result:
            result[-1] = (result[-1][0], (result[-1][1] + " " + words).strip())
        else:
            result.append((number, words))
        previous = number
    return result


def complaints(name, text):
    found = []
    if name.endswith(".md"):
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > LONGEST_LINE and not line.startswith("|") and "](" not in line and not SENTENCE.match(line):
                found.append(f"{name}:{number}: {len(line)} characters, {LONGEST_LINE} at most")
        return found
    for number, words in comments(COMPILER.sub("", text)):
        for wrong, pattern in HABITS:
            match = pattern.search(words)
            if match is not None:
                found.append(f"{name}:{number}: {wrong}: {match.group(0).strip()!r} in: {words[:100]}")
    return found


class English(unittest.TestCase):
    def test_the_tree_reads_well(self):
        found = []
        for name, path in tree.files():
            if name.endswith((".h", ".cc", ".md")):
                found += complaints(name, path.read_text())
        self.assertEqual([], found)

    def test_a_habit_is_found(self):
        for line in ["// Who sends waits.", "// What is sent waits for a reader. It is bounded.", "int a = 0;  // of the worker",
                     "int a = 0;  // its", "// The link is told of the end.", "// It tells the caller."]:
            with self.subTest(line):
                self.assertEqual(1, len(complaints("lp/a.h", line)))
        self.assertEqual(1, len(complaints("lp/README.md", "word " * 30)))

    def test_plain_english_passes(self):
        for line in ["// The sender waits.", "// Returns the name of the node that sends.", "int a = 0;  // bytes of the message"]:
            with self.subTest(line):
                self.assertEqual([], complaints("lp/a.h", line))
        self.assertEqual([], complaints("lp/README.md", "| " + "word " * 30))


if __name__ == "__main__":
    unittest.main()
