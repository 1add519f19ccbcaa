"""The table of crossings: the guarantees when an event hits a node of a training with some option.

The table is a page, programs/crossings.md. A row is a scheme, a node and an event; a column is an option; a cell is a claim.
"""

import itertools
import pathlib
import re
from typing import NamedTuple

PAGE = pathlib.Path(__file__).parents[2] / "programs" / "crossings.md"

# Steps and flags of a scheme. It trains so long that an event in its first quarter comes well before its end.
SCHEMES = {
    "synchronous": (5000, []),
    "in_graph": (3000, []),
    "feeding": (5000, []),
    "backup": (6000, []),
    "work_units": (1500, []),
    "asynchronous": (8000, []),
    "outer_product": (8000, []),
    "bounded_delay": (6000, []),
    "stale_synchronous": (8000, []),
    "softsync": (30000, []),
    "tree": (8000, []),
    "partitioned": (8000, []),
    "sliced": (4000, []),
    "one_bit": (5000, []),
    "ring": (5000, []),
    "local_sgd": (20000, []),
    "bmuf": (20000, ["--average-every=20"]),
    "tree_aggregate": (2500, ["--workers=8"]),
    "hogwild": (30000, []),
    "pipeline": (3000, []),
    "topology": (8000, []),
    "federated": (800, ["--fraction=1", "--patience=1"]),
    "gossip": (30000, []),
}

SMALL = "--hidden=16"
RESTARTS = [SMALL, "--restarts=2"]
# The flags that a column adds to those of its scheme. `more steps`: half of them are done, and another launch resumes.
OPTIONS = {
    "elastic": [SMALL],
    "restarts": RESTARTS,
    "replicated": [*RESTARTS, "--replicated", "--servers=3"],
    "compression": [*RESTARTS, "--compression=one_bit"],
    "sparse rows": ["--restarts=2", "--model=linear", "--sparse"],
    "3 servers": [*RESTARTS, "--servers=3"],
    "more steps": RESTARTS,
    "own cuts": [*RESTARTS, "--checkpoint-every=77"],
}
RESUMED = "more steps"

# The groups in which the event happens to one node.
VICTIMS = ["worker", "server", "leaf", "replica", "feeder", "stage", "rounds", "vector", "commits"]
EVENTS = ["killed", "stopped and continued", "lp restart"]

# Claims, the strongest first.
BITS = "bits"        # the same bits as undisturbed
UPDATES = "updates"  # the same number of updates, and it has learned
GOES_ON = "goes on"  # it has learned
ENDS = "ends"        # it ends with the sentence of this number
REFUSED = "refused"  # refused when the graph is built, with the sentence of this number


class Cell(NamedTuple):
    scheme: str
    victim: str
    event: str
    option: str


class Table:
    """The claims of all cells; sentences have numbers."""

    def __init__(self):
        self.claims = {}
        self.sentences = []

    def add(self, cell, claim, sentence=None):
        if sentence is not None:
            if sentence not in self.sentences:
                self.sentences.append(sentence)
            claim = f"{claim} {self.sentences.index(sentence) + 1}"
        self.claims[cell] = claim

    def claim(self, cell):
        """The claim and, where it has one, its sentence."""
        words = self.claims[cell].rsplit(" ", 1)
        if words[-1].isdigit():
            return words[0], self.sentences[int(words[-1]) - 1]
        return self.claims[cell], None

    def rows(self):
        rows = dict.fromkeys((cell.scheme, cell.victim, cell.event) for cell in self.claims)
        return sorted(rows, key=lambda row: list(SCHEMES).index(row[0]))

    def text(self):
        lines = ["| scheme | node | event | " + " | ".join(OPTIONS) + " |", "| --- " * (3 + len(OPTIONS)) + "|"]
        for row in self.rows():
            cells = [self.claims[Cell(*row, option)] for option in OPTIONS]
            lines.append("| " + " | ".join([*row, *cells]) + " |")
        numbered = [f"{number}. `{sentence}`" for number, sentence in enumerate(self.sentences, 1)]
        return "\n".join(lines) + "\n\n" + "\n".join(numbered) + "\n"


BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def read():
    table = Table()
    text = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    table.sentences = re.findall(r"^\d+\. `(.*)`$", text, re.MULTILINE)
    for line in text.splitlines()[2:]:
        if not line.startswith("|"):
            continue
        scheme, victim, event, *claims = [word.strip() for word in line.strip("|").split("|")]
        for option, claim in itertools.zip_longest(OPTIONS, claims, fillvalue=""):
            table.claims[Cell(scheme, victim, event, option)] = claim
    return table


def write(table):
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table.text() + END + rest.split(END)[1])
