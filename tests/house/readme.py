"""The code blocks of README.md. Usage: readme.py FOLDER writes the C++ programs there and prints their paths."""

import pathlib
import re
import sys

import tree

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text():
    return (tree.ROOT / "README.md").read_text()


def blocks(language):
    return [body for name, body in BLOCK.findall(text()) if name == language]


def commands():
    """The lines of all sh blocks that are not comments."""
    return [line for body in blocks("sh") for line in body.splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, body in enumerate(blocks("cpp"), 1):
        path = folder / f"readme_{number}.cc"
        if not path.exists() or path.read_text() != body:
            path.write_text(body)
        print(path)
