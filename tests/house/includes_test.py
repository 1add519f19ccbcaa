"""Includes go one way, are written from the top of the tree, and keep heavy libraries out of headers."""

import collections
import re
import unittest

import tree

PARTS = ["lp/base", "lp/gpu", "lp/kernels", "lp/wire", "lp/cuda", "lp/rpc", "lp/rpc/core", "lp/rpc/link",
         "lp/rpc/observation", "lp/checkpoint", "lp/program", "lp/draw", "lp/config"]
LP = PARTS + ["lp"]
RPC = ["lp/rpc", "lp/rpc/core", "lp/rpc/link", "lp/rpc/observation"]
NODES = ["nodes", "nodes/parameters", "nodes/collective", "nodes/replay", "nodes/dataflow",
         "nodes/mapreduce", "nodes/stream", "nodes/operators", "nodes/windows", "nodes/serving"]
PROGRAMS = ["programs", "programs/data", "programs/models", "programs/training", "programs/schemes",
            "programs/environments", "programs/networks", "programs/agents", "programs/experiments", "programs/evolution",
            "programs/mapreduce", "programs/pipeline"]

TOOLS = ["tools/lp", "tools/lp/trace", "tools/lp/views", "tools/lp/why", "tools/lp/report", "tools/lp/ui"]

# The rooms of launchers/: each may include those before it. Engines never include one another.
ROOMS = ["launchers/" + room for room in
         ["os", "http", "record", "control", "supervisor", "observation", "engine_interface", "plan", "agent", "remote",
          "executor", "admin", "metrics"]]
ENGINES = ["launchers/engines/" + engine for engine in ["threads", "processes", "ssh", "slurm", "kubernetes"]]

# The folders that the files of a folder may include, beside their own folder. The longest prefix counts.
MAY_INCLUDE = {
    "lp": PARTS,  # lp/lp.h, which is for the folders above
    "lp/base": [],
    "lp/gpu": ["lp/base"],
    "lp/kernels": ["lp/base", "lp/gpu", "lp/cuda"],
    "lp/wire": ["lp/base"],
    "lp/cuda": ["lp/base", "lp/wire", "lp/gpu"],
    "lp/rpc/link": ["lp/base", "lp/wire"],  # the common part of the core and the transports
    "lp/rpc/observation": ["lp/base"],  # what is seen of calls and waits
    "lp/rpc/core": ["lp/base", "lp/wire", "lp/rpc/link", "lp/rpc/observation"],
    "lp/rpc/shm": ["lp/base", "lp/wire", "lp/rpc/link", "lp/rpc/core"],
    "lp/rpc/tcp": ["lp/base", "lp/wire", "lp/rpc/link", "lp/rpc/core"],
    "lp/rpc": ["lp/base", "lp/wire", "lp/rpc/link", "lp/rpc/core", "lp/rpc/shm", "lp/rpc/tcp"],
    "lp/checkpoint": ["lp/base", "lp/wire"],
    "lp/program": ["lp/base", "lp/wire", "lp/checkpoint"] + RPC,
    "lp/draw": ["lp/base", "lp/program"],
    "lp/config": ["lp/base"],
    "nodes/parameters": LP,
    "nodes/collective": LP,
    "nodes/replay": LP,
    "nodes/dataflow": LP,
    "nodes/mapreduce": LP + ["nodes/dataflow"],
    "nodes/stream": LP + ["nodes/dataflow"],
    "nodes/operators": LP + ["nodes/dataflow", "nodes/stream"],
    "nodes/windows": LP + ["nodes/dataflow", "nodes/stream", "nodes/operators"],
    "nodes/serving": LP + ["nodes"],
    "nodes": LP + NODES,
    **{room: LP + ROOMS[:number] for number, room in enumerate(ROOMS)},
    "launchers/remote": LP + ROOMS[:ROOMS.index("launchers/remote")] + ["lp/rpc/tcp"],  # a tunnel through a Router
    **{engine: LP + ROOMS for engine in ENGINES},
    "launchers/run": LP + ROOMS,  # a run knows the interface of engines alone
    "launchers": LP + ROOMS + ENGINES + ["launchers/run"],
    "tools/lp": LP + ROOMS + ["launchers"],
    "tools/lp/trace": LP + ROOMS,
    "tools/lp/views": LP + ROOMS + ["tools/lp"],
    "tools/lp/why": LP + ROOMS + ["tools/lp"],
    "tools/lp/report": LP + ROOMS + ["tools/lp", "tools/lp/views", "tools/lp/why"],
    "tools/lp/ui": LP + ROOMS + ["tools/lp", "tools/lp/views", "tools/lp/why"],
    "tools/lp/commands": LP + ROOMS + TOOLS + ["launchers/engines/kubernetes"],  # lp image is for pods
    "programs/data": LP + NODES,
    "programs/models": LP + NODES + ["programs/data"],
    "programs/training": LP + NODES + ["programs/data", "programs/models"],
    "programs/schemes": LP + NODES + ["programs/data", "programs/models", "programs/training"],
    "programs/environments": LP,
    "programs/networks": LP + NODES + ["programs/environments"],
    "programs/agents": LP + NODES + ["programs/environments", "programs/networks"],
    "programs/experiments": LP + NODES + ["programs/environments", "programs/networks", "programs/agents"],
    "programs/evolution": LP + NODES + ["programs/environments", "programs/networks", "programs/agents", "programs/experiments"],
    "programs/mapreduce": LP + NODES,
    "programs/pipeline": LP + NODES,
    "programs": LP + NODES + PROGRAMS,
    "examples": LP + NODES + PROGRAMS + ["launchers"],
    "tests": LP + NODES + PROGRAMS + ROOMS + ENGINES + TOOLS + ["lp/rpc/shm", "lp/rpc/tcp", "launchers", "examples"],
}

MOST_ROOMS = 24
FLOORS = ["launchers", "lp/rpc"]
MOST_ON_A_FLOOR = 20
HEAVY = re.compile(r"^(cuda\w*\.h|cublas\w*\.h|nccl\.h|zmq\.hpp|zmq\.h|zmq_addon\.hpp|flatbuffers/|yaml-cpp/|boost/|zstd.h|nlohmann/)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def folder_of(name):
    fitting = [folder for folder in MAY_INCLUDE if name.startswith(folder + "/")]
    return max(fitting, key=len, default=None)


def wrong_includes(name, text):
    """A sentence for each include of the file `name` that the rules forbid."""
    folder = folder_of(name)
    if folder is None:
        return [f"{name}: its folder is not in MAY_INCLUDE of {__file__}"]
    sentences = []
    for bracket, target in INCLUDE.findall(text):
        if bracket == "<":
            if name.endswith(".h") and HEAVY.match(target) and not name.startswith("tests/"):
                sentences.append(f"{name}: <{target}> is heavy: include it in a .cc file")
            continue
        other = folder_of(target)
        if other is None:
            sentences.append(f'{name}: "{target}": write the path from the top of the tree')
        elif other != folder and other not in MAY_INCLUDE[folder]:
            sentences.append(f'{name}: "{target}": {folder} must not know {other}')
        elif name.endswith(".h") and target.endswith("_generated.h") and not name.startswith("tests/"):
            sentences.append(f'{name}: "{target}" is generated and not installed: include it in a .cc file')
    return sentences


def floors(names):
    """What a reader sees on the floor of each folder: its folders and its rooms."""
    result = collections.defaultdict(set)
    for name in names:
        parts = name.split("/")
        for i in range(1, len(parts)):
            result["/".join(parts[:i])].add(parts[i].partition(".")[0])
    return {folder: len(seen) for folder, seen in result.items()}


def rooms(names):
    """The number of rooms of each folder: a source with its header is one room."""
    result = collections.defaultdict(set)
    for name in names:
        folder, _, file = name.rpartition("/")
        result[folder].add(file.partition(".")[0])
    return {folder: len(stems) for folder, stems in result.items()}


class Includes(unittest.TestCase):
    def test_no_folder_has_more_rooms_than_a_reader_takes_in(self):
        counted = rooms(name for name, _ in tree.sources())
        self.assertEqual({}, {folder: count for folder, count in counted.items() if count > MOST_ROOMS})

    def test_the_floors_of_launchers_and_rpc_are_seen_at_once(self):
        counted = floors(name for name, _ in tree.sources())
        self.assertEqual({}, {folder: counted[folder] for folder in FLOORS if counted[folder] > MOST_ON_A_FLOOR})

    def test_each_folder_has_its_rule(self):
        folders = {name.rpartition("/")[0] for name, _ in tree.sources() if not name.startswith("tests/")}
        self.assertEqual([], sorted(folders - set(MAY_INCLUDE)))

    def test_the_tree_keeps_the_directions(self):
        sources = tree.sources()
        self.assertGreater(len(sources), 5)
        self.assertEqual([], [sentence for name, text in sources for sentence in wrong_includes(name, text)])

    def test_a_wrong_include_is_found(self):
        for name, line in [
            ("lp/base/a.h", '#include "lp/wire/b.h"'),
            ("lp/kernels/a.h", '#include "lp/wire/b.h"'),
            ("lp/rpc/a.cc", '#include "lp/config/b.h"'),
            ("lp/config/a.cc", '#include "lp/program/b.h"'),
            ("lp/program/a.h", '#include "lp/lp.h"'),
            ("lp/rpc/core/a.cc", '#include "lp/rpc/shm/b.h"'),
            ("lp/rpc/core/a.cc", '#include "lp/rpc/b.h"'),
            ("lp/rpc/shm/a.cc", '#include "lp/rpc/tcp/b.h"'),
            ("lp/program/a.cc", '#include "lp/rpc/tcp/b.h"'),
            ("lp/checkpoint/a.h", '#include "lp/program/b.h"'),
            ("lp/program/a.cc", '#include "lp/draw/b.h"'),
            ("nodes/parameters/a.h", '#include "nodes/b.h"'),
            ("programs/training/a.h", '#include "programs/schemes/b.h"'),
            ("launchers/supervisor/a.cc", '#include "launchers/plan/b.h"'),
            ("launchers/os/a.cc", '#include "launchers/record/b.h"'),
            ("launchers/agent/a.cc", '#include "launchers/b.h"'),
            ("launchers/engines/slurm/a.cc", '#include "launchers/engines/kubernetes/b.h"'),
            ("launchers/engines/ssh/a.cc", '#include "launchers/engines/processes/b.h"'),
            ("launchers/plan/a.cc", '#include "launchers/engines/threads/b.h"'),
            ("launchers/engine_interface/a.cc", '#include "launchers/plan/b.h"'),
            ("launchers/run/a.cc", '#include "launchers/engines/slurm/b.h"'),
            ("launchers/run/a.cc", '#include "launchers/b.h"'),
            ("tools/lp/a.cc", '#include "launchers/engines/slurm/b.h"'),
            ("tools/lp/a.cc", '#include "tools/lp/views/b.h"'),
            ("nodes/serving/a.cc", '#include "nodes/replay/b.h"'),
            ("examples/a.cc", '#include "launchers/engines/slurm/b.h"'),
            ("nodes/a.h", '  #  include "launchers/b.h"'),
            ("launchers/a.cc", '#include "nodes/b.h"'),
            ("lp/program/a.h", '#include "launchers/b.h"'),
            ("programs/a.h", '#include "examples/b.h"'),
            ("nodes/deep/a.h", '#include "programs/b.h"'),
            ("nodes/a.cc", '#include "b.h"'),
            ("nodes/a.h", "#include <zmq.hpp>"),
            ("lp/wire/a.h", '#include "lp/wire/b_generated.h"'),
            ("elsewhere/a.h", '#include "lp/base/b.h"'),
        ]:
            with self.subTest(name=name, line=line):
                self.assertEqual(1, len(wrong_includes(name, f"#pragma once\n{line}\n")))

    def test_a_right_include_passes(self):
        for name, line in [
            ("lp/rpc/a.h", '#include "lp/wire/b.h"'),
            ("lp/rpc/a.cc", '#include "lp/rpc/b_generated.h"'),
            ("programs/a.h", '#include "nodes/b.h"'),
            ("launchers/engines/slurm/a.cc", '#include "launchers/plan/b.h"'),
            ("lp/rpc/tcp/a.cc", '#include "lp/rpc/core/b.h"'),
            ("nodes/a.cc", '#include "lp/lp.h"'),
            ("examples/a.cc", '#include "launchers/b.h"'),
            ("launchers/a.cc", "#include <zmq.hpp>"),
        ]:
            with self.subTest(name=name, line=line):
                self.assertEqual([], wrong_includes(name, line))


if __name__ == "__main__":
    unittest.main()
