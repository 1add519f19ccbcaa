"""What it costs to compile lp, in processor seconds of the compiler. Usage: compile.py BUILD-FOLDER [--json] [SOURCE...]

Compiles each source of a built folder once more, without a compiler cache. The processor time, unlike the time of a build,
depends little on what else the machine does. Prints the sum of the libraries with the commands and examples, the sum of the
tests, and the ten most expensive sources; and the cost for a user: a service with 40 methods of distinct signatures (-O0),
beside the header that it includes. With SOURCE, only the cost of these sources.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_EXPENSIVE = 10


def commands(build):
    """(name, command, folder) of each source of the project."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        while not pathlib.Path(words[0]).name.startswith(("g++", "c++", "clang++", "nvcc")):  # cmake -E env, ccache
            words.pop(0)
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        yield str(source.relative_to(ROOT)) if source.is_relative_to(ROOT) else str(source), words, entry["directory"]


def seconds(command, folder):
    """The user and system seconds of one compiler, whose output is thrown away."""
    with tempfile.TemporaryDirectory() as scratch:
        words = list(command)
        for flag in ("-o", "-MF"):
            if flag in words:
                words[words.index(flag) + 1] = os.path.join(scratch, "out" + flag)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, cwd=folder, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(build, sources):
    """(seconds, name) of each source, the most expensive first."""
    chosen = [one for one in commands(build) if not sources or one[0] in sources]
    # Processes and not threads, because the times of children are those of all children of a process.
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        times = pool.map(seconds, [command for _, command, _ in chosen], [folder for _, _, folder in chosen])
        return sorted(zip(times, (name for name, _, _ in chosen)), reverse=True)


def of_users():
    """The medians of five compilations: a service with 40 methods, and the header that it includes."""
    with tempfile.TemporaryDirectory() as scratch:
        header = pathlib.Path(scratch, "header.cc")
        header.write_text('#include "lp/program/program.h"\n')
        compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-I.", "-c", "-o", "/dev/null"]
        return [statistics.median(seconds([*compiler, str(source)], ROOT) for _ in range(5))
                for source in ("tests/bench/forty_methods.cc", header)]


def show(rows, forty_methods, header_alone, as_json):
    in_tests = [(time, name) for time, name in rows if name.startswith("tests/") or "/tests/" in name]
    tests = sum(time for time, _ in in_tests)
    libraries = sum(time for time, _ in rows) - tests
    if as_json:
        print(json.dumps({"benchmark": "compile", "unit": "processor seconds", "libraries": round(libraries, 1),
                          "tests": round(tests, 1), "forty_methods": round(forty_methods, 2),
                          "header_alone": round(header_alone, 2),
                          "most_expensive": {name: round(time, 1) for time, name in rows[:MOST_EXPENSIVE]}}))
        return
    print("processor seconds of the compiler")
    print(f"{libraries:8.1f}  libraries, commands and examples: {len(rows) - len(in_tests)} sources")
    print(f"{tests:8.1f}  tests: {len(in_tests)} sources")
    print(f"{forty_methods:8.2f}  a service with 40 methods of distinct signatures, -O0")
    print(f"{header_alone:8.2f}  lp/program/program.h alone, -O0")
    print("the most expensive sources")
    for time, name in rows[:MOST_EXPENSIVE]:
        print(f"{time:8.1f}  {name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = measure(given.build.resolve(), given.sources)
    if given.sources:
        for time, name in rows:
            print(f"{time:8.1f}  {name}")
    else:
        show(rows, *of_users(), given.json)


if __name__ == "__main__":
    main()
