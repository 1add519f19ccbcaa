"""The code blocks of pages. Usage: readme.py FOLDER writes their C++ programs there and prints the paths."""

import pathlib
import re
import sys

import tree

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [body for name, body in BLOCK.findall((tree.ROOT / page).read_text()) if name == language]


def programs():
    """Name and text of every block of every page that is a whole program."""
    pages = sorted(name for name in tree.names() if name.endswith("README.md") and (tree.ROOT / name).is_file())
    return [(f"{page[:-3].replace('/', '_').lower()}_{number}", body)
            for page in pages for number, body in enumerate(blocks(page, "cpp"), 1) if "int main(" in body]


def commands():
    """The lines of all sh blocks of README.md that are not comments."""
    return [line for body in blocks("README.md", "sh") for line in body.splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in programs():
        path = folder / f"{name}.cc"
        if not path.exists() or path.read_text() != body:
            path.write_text(body)
        print(path)
