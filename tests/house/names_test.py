"""Names outside tests: standard verbs, one meaning of a place, constants that say what they bound."""

import re
import unittest

import tree

FOLDERS = ("lp/", "launchers/", "nodes/", "programs/", "examples/", "tools/")
VERBS = re.compile(r"\b((?:hear|heard|obey|tell|say|look|meet|seat)(?:_\w+)?)\s*\(")
PLACE = re.compile(r"\b(?:class|struct|enum)\s+(\w*Places?(?![a-z])\w*)")
VAGUE = re.compile(r"\b(?:constexpr|const)\b[^;=(]*\b(kPatience|kTimeToEnd|kPeriod|kKept)\b\s*=")
# Methods that the field calls so: the optimizer's of pycma, ask() and tell().
STANDARD = ("programs/evolution/", "tell")
NO_CODE = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"")


def complaints(name, text):
    code = NO_CODE.sub("", text)
    result = [f"{name}: {verb}(): use a standard verb, such as send, poll, log, notify, assign or update"
              for verb in VERBS.findall(code) if not (name.startswith(STANDARD[0]) and verb == STANDARD[1])]
    result += [f"{name}: {place}: a place is an assignment, a location, an origin or a rank: use that word"
               for place in PLACE.findall(code)]
    return result + [f"{name}: {constant}: say what it bounds, as kAnswerTimeout does" for constant in VAGUE.findall(code)]


class Names(unittest.TestCase):
    def test_are_the_words_of_the_field(self):
        self.assertEqual([], [one for name, text in tree.sources() if name.startswith(FOLDERS)
                              for one in complaints(name, text)])

    def test_a_private_word_is_found(self):
        self.assertEqual(1, len(complaints("lp/a.h", "void tell_server(int node);")))
        self.assertEqual(1, len(complaints("lp/a.h", "struct UnitPlace {")))
        self.assertEqual(1, len(complaints("lp/a.h", "constexpr auto kPatience = std::chrono::seconds(1);")))
        self.assertEqual([], complaints("lp/a.h", "struct GroupPlacement {  // tell(it)\n  const char* text = \"say(it)\";"))


if __name__ == "__main__":
    unittest.main()
