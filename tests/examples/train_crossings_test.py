"""Executes the table of crossings, programs/crossings.md: every scheme, every event for one of its nodes, every option.

Usage: train_crossings_test.py FOLDER LP [--all] [--kills=N] [--seed=N] [--write] [SCHEME...]

FOLDER has the examples, LP is the lp command. Without --all a sample of the cells is executed: a few, or with --kills=N, for each
scheme and claim, one of the cells in which a node is killed. The event comes N times in each cell, in runs of their own and at random
steps, which the printed seed gives again. --write measures the cells, and writes the weakest that was seen into the table, for people
to read before they commit it.
"""

import argparse
import functools
import itertools
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import crossings
import launch
from crossings import BITS, ENDS, GOES_ON, OPTIONS, REFUSED, RESUMED, SCHEMES, UPDATES, Cell

STRENGTH = [BITS, UPDATES, GOES_ON, ENDS, REFUSED]
SAMPLE = 8  # cells
ATTEMPTS = 5  # to disturb a training before its end
PAUSE = 0.1  # seconds for which a node is stopped
LOSS_OF_ACCURACY = 0.03  # the most that a disturbed run may lose
SETTINGS = argparse.Namespace()


def flags_of(scheme, option, steps=None):
    all_steps, flags = SCHEMES[scheme]
    return ["--launch=processes", "--seed=3", f"--scheme={scheme}", f"--steps={steps or all_steps}", *flags, *OPTIONS[option]]


def steps_of(scheme):
    return SCHEMES[scheme][0]


def sentence_of(result):
    """The error of a run that failed, without the numbers that differ from run to run."""
    where = result.get("failed_node")
    text = f"{where}: {result['cause']}" if where else result["cause"]
    return re.sub(r"\(incarnation \d+\)|\b\d+(\.\d+)? (ms|s)\b", "*", text)


@functools.cache
def undisturbed(scheme, option):
    """A training without a disturbance: its result, or the error."""
    process = launch.run("train", "--json", *flags_of(scheme, option))
    lines = process.stdout.splitlines()
    if not lines:
        raise AssertionError(f"{process.args} ended with {process.returncode}\n{process.stderr}")
    return json.loads(lines[-1])


@functools.cache
def half_of(scheme):
    """The directory of a run that has done half of the steps."""
    directory = f"{SETTINGS.directory}/{scheme}"
    launch.result("train", *flags_of(scheme, RESUMED, steps_of(scheme) // 2), f"--directory={directory}")
    return directory


def disturb(run, node, event, step):
    run.wait_for_step(step)
    if event == "killed":
        run.signal(node)
    elif event == "stopped and continued":
        run.signal(node, signal.SIGSTOP)
        time.sleep(PAUSE)
        run.signal(node, signal.SIGCONT)
    else:
        told = subprocess.run([SETTINGS.lp, "restart", "--force", run.directory, node], capture_output=True, text=True, timeout=launch.PATIENCE)
        if told.returncode != 0 and "the program is stopping" in told.stderr:
            raise launch.Ended(told.stderr)
        if told.returncode != 0:
            raise AssertionError(f"lp restart {node} ended with {told.returncode}: {told.stderr}")


def measure(cell, node, step):
    """The claim that a run with a disturbance at this step fulfils, and its sentence. On a machine that is busy with other
    work, a training may be over before it is disturbed; then another one is."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt(cell, node, step)
        except launch.Ended:
            pass
    return attempt(cell, node, step)


def attempt(cell, node, step):
    expected = undisturbed(cell.scheme, cell.option)
    if "accuracy" not in expected:
        return REFUSED, sentence_of(expected)
    flags = flags_of(cell.scheme, cell.option)
    if cell.option == RESUMED:
        flags.append(f"--resume={half_of(cell.scheme)}")
        step += steps_of(cell.scheme) // 2
    with launch.Launch("train", *flags) as run:
        disturb(run, node, cell.event, step)
        code = run.wait()
        if code != 0 and "while the program stopped" in run.shown:
            raise launch.Ended(run.shown)
        result = run.last_line()
        if "accuracy" not in result:
            assert code != 0, run.shown
            return ENDS, sentence_of(result)
        assert code == 0, run.shown
        assert result["accuracy"] >= expected["accuracy"] - LOSS_OF_ACCURACY, f"{result}\n{run.shown}"
        if result["parameters_hash"] == expected["parameters_hash"]:
            return BITS, None
        return (UPDATES if result["updates"] == expected["updates"] else GOES_ON), None


@functools.cache
def nodes_of(scheme):
    """The node of a scheme to disturb, by its name in the row."""
    plan = json.loads(launch.run("train", "--dry-run", "--json", *flags_of(scheme, "elastic")).stdout)
    of_group = {}
    for node in plan["nodes"]:
        of_group.setdefault(node["group"], []).append(node["name"])
    return {group: names[min(1, len(names) - 1)] for group, names in of_group.items() if group in crossings.VICTIMS}


def moments(cell):
    """The steps at which the run is disturbed."""
    numbers = random.Random(f"{SETTINGS.seed} {cell}")
    last = steps_of(cell.scheme) // 4  # so that the node is disturbed well before the end
    return [numbers.randrange(last // 50, last) for _ in range(SETTINGS.kills)]


def outcomes(cell):
    return [measure(cell, nodes_of(cell.scheme)[cell.victim], step) for step in moments(cell)]


def all_cells():
    return [Cell(scheme, victim, event, option) for scheme in SCHEMES if not SETTINGS.schemes or scheme in SETTINGS.schemes
            for victim in nodes_of(scheme) for event in crossings.EVENTS for option in OPTIONS]


def one_killed_of_each_claim(table):
    by_claim = {}
    for cell in all_cells():
        claim = table.claim(cell)[0]
        if cell.event == "killed" and claim != REFUSED:
            by_claim.setdefault((cell.scheme, claim), []).append(cell)
    return [random.Random(f"{SETTINGS.seed} {key}").choice(cells) for key, cells in by_claim.items()]


def wanted_cells(table):
    if SETTINGS.all:
        return all_cells()
    if SETTINGS.kills > 1:
        return one_killed_of_each_claim(table)
    return random.Random(SETTINGS.seed).sample(all_cells(), SAMPLE)


class Crossings(unittest.TestCase):
    def test_the_table_has_a_claim_in_every_cell(self):
        claims = crossings.read().claims
        for cell in all_cells():
            with self.subTest(cell):
                self.assertRegex(claims.get(cell, ""), f"^({BITS}|{UPDATES}|{GOES_ON}|({ENDS}|{REFUSED}) [0-9]+)$")

    def test_the_claims_hold(self):
        table = crossings.read()
        for cell in wanted_cells(table):
            with self.subTest(cell, seed=SETTINGS.seed):
                claim, sentence = table.claim(cell)
                print(f"{cell}: {claim}", flush=True)
                for outcome, said in outcomes(cell):
                    self.assertLessEqual(STRENGTH.index(outcome), STRENGTH.index(claim), f"{outcome}: {said}")
                    if claim in (ENDS, REFUSED):
                        self.assertEqual((claim, sentence), (outcome, said))


def write():
    table = crossings.read()
    for _, group in itertools.groupby(all_cells(), key=lambda cell: cell.scheme):
        for cell in group:
            try:
                table.add(cell, *max(outcomes(cell), key=lambda one: STRENGTH.index(one[0])))
                print(f"{cell}: {table.claims[cell]}", flush=True)
            except Exception as error:  # the other cells still run
                print(f"{cell}: {error}", flush=True)
                table.claims.setdefault(cell, "")
        crossings.write(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("lp", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("schemes", nargs="*")
    with tempfile.TemporaryDirectory() as directory:
        SETTINGS = parser.parse_intermixed_args(namespace=argparse.Namespace(directory=directory))
        launch.FOLDER = SETTINGS.folder
        print(f"--seed={SETTINGS.seed}", flush=True)
        if SETTINGS.write:
            write()
        else:
            unittest.main(argv=sys.argv[:1])
