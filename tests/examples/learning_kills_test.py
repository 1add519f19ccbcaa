"""Programs that learn go on, whichever of their nodes is killed, and whenever. Usage: learning_kills_test.py FOLDER LP [--kills=N [PROGRAM...]]

Without N a sample; with N, kills each node of each program N times, at random moments.
"""

import array
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import launch

launch.FOLDER, LP = map(pathlib.Path, sys.argv[1:3])
KILLS = int(next((word.removeprefix("--kills=") for word in sys.argv if word.startswith("--kills=")), 0))
KILLS_OF_A_RUN = 5  # the restarts of a node follow one another ever more slowly
SHARE = 1 if KILLS else 4  # a run with a single kill is so many times shorter
RESTARTS = "--restarts=40"
PROGRAMS = {
    "dqn": ["--environment=catch", f"--steps={30_000 // SHARE}", "--checkpoint_every=500", "--seed=3"],
    "es": [f"--evaluations={64_000 // SHARE}", "--seed=3"],
    "impala": ["--environment=catch", f"--steps={1_600_000 // SHARE}", "--inference_servers=1", "--seed=3"],
    "ppo": [f"--steps={400_000 // SHARE}", "--checkpoint_every=20", "--seed=3"],
    "td3": [f"--steps={10_000 // SHARE}", "--checkpoint_every=500", "--seed=3"],
}
CHOSEN = [word for word in sys.argv[3:] if word in PROGRAMS] or list(PROGRAMS)
SAME_BITS = ["es", "ppo"]  # whatever is killed
REPLAY = ["dqn", "td3"]  # none of their items is removed
SAMPLE = [("dqn", "replay"), ("impala", "learner"), ("ppo", "actor/0")]


def keys_in(file):
    """The keys of the items in a file that a replay server has saved."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([LP, "checkpoint", "export", file, "-o", folder], check=True, stdout=subprocess.DEVNULL)
        exported = next(pathlib.Path(folder).glob("**/transitions*keys.npy")).read_bytes()
    return set(array.array("Q", exported[10 + int.from_bytes(exported[8:10], "little"):]))


class Watched(launch.Launch):
    """A launch whose counts are looked at, over and over."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.most = {}  # by the name of a count
        self.gone_back = []

    def _read(self, end):
        more = super()._read(end)
        try:
            status = json.loads(pathlib.Path(self.directory, "status.json").read_text())
        except OSError:
            return more  # there is none yet
        self._look("cut", status["cut"])
        for node in status["nodes"]:
            if node["step"] > 0:  # else the node has been restarted, and has reported nothing yet
                self._look(f"step of {node['name']}", node["step"])
        return more

    def _look(self, name, count):
        if count < self.most.get(name, 0):
            self.gone_back.append(f"{name} went back from {self.most[name]} to {count}")
        self.most[name] = max(count, self.most.get(name, 0))

    def saved_replay(self, copy):
        """Copies the file of the replay server in the newest complete cut; False: there is none yet."""
        for manifest in sorted(pathlib.Path(self.directory, "checkpoints").glob("step-*/MANIFEST"), reverse=True):
            try:
                shutil.copy(manifest.parent / "replay.checkpoint", copy)
                return True
            except FileNotFoundError:
                pass  # it was removed meanwhile, and there are newer ones
        return False


def result_of(output):
    """The counts of an example's output."""
    return {"updates": output["search"]["generations"], **output["search"]} if "search" in output else output


def result_without_kills(program):
    return result_of(launch.result(program, "--launch=threads", *PROGRAMS[program], RESTARTS))


def victims_of(program):
    """A node of each group."""
    plan = json.loads(launch.run(program, "--dry-run", "--json", *PROGRAMS[program]).stdout)
    groups = {node["name"].partition("/")[0]: node["name"] for node in reversed(plan["nodes"])}
    return list(groups.values())


class Kills(unittest.TestCase):
    def kill(self, program, victim, expected, kills):
        moments = sorted(random.randrange(1, expected["updates"] // 2) for _ in range(kills))
        told = f"{victim} of {program} is killed at {moments}"
        with (self.subTest(told), tempfile.TemporaryDirectory() as folder,
              Watched(program, "--launch=processes", *PROGRAMS[program], RESTARTS) as run):
            copy = pathlib.Path(folder, "replay.checkpoint")
            saved = set()  # keys that a checkpoint had
            for moment in moments:
                run.wait_for_step(moment)
                there = run.saved_replay(copy)
                run.signal(victim)
                saved |= keys_in(copy) if there else set()
            found = result_of(run.result())
            self.assertEqual([], run.gone_back, run.shown)
            shown = [int(step) for step in re.findall(r"step (\d+)/", run.shown)]
            self.assertEqual(sorted(shown), shown, run.shown)
            killed = re.findall(f"{victim}(?:,[^:]*)?: was killed by signal 9", run.shown)
            self.assertEqual(kills, len(killed), run.shown)
            for name in ["updates"] + (["parameters_hash", "steps"] if program in SAME_BITS else []):
                self.assertEqual(expected[name], found[name], run.shown)
            if program in REPLAY:
                self.assertTrue(run.saved_replay(copy))
                self.assertEqual(set(), saved - keys_in(copy), "items that a checkpoint had are lost")

    @unittest.skipIf(KILLS, "all are killed")
    def test_a_sample(self):
        for program, victim in SAMPLE:
            self.kill(program, victim, result_without_kills(program), 1)

    @unittest.skipUnless(KILLS, "a sample is killed")
    def test_every_node_of_every_program(self):
        for program in CHOSEN:
            expected = result_without_kills(program)
            for victim in victims_of(program):
                for _ in range(KILLS // KILLS_OF_A_RUN):
                    self.kill(program, victim, expected, KILLS_OF_A_RUN)
                print(f"{program}: {KILLS} kills of {victim}", flush=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
