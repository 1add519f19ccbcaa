"""The code blocks of pages. Usage: readme.py FOLDER writes their C++ programs there, and guide.cc with all fragments, and
prints the paths of the programs."""

import pathlib
import re
import sys

import tree

FRAGMENT = re.compile(r"^@(\S+) (\d+)@$", re.MULTILINE)  # in guide.cc.in
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [body for name, body in BLOCK.findall((tree.ROOT / page).read_text()) if name == language]


def cpp():
    """Page, number and text of every C++ block of every page."""
    pages = sorted(name for name in tree.names() if name.endswith("README.md") and (tree.ROOT / name).is_file())
    return [(page, number, body) for page in pages for number, body in enumerate(blocks(page, "cpp"), 1)]


def programs():
    """Name and text of every block of every page that is a whole program."""
    return [(f"{page[:-3].replace('/', '_').lower()}_{number}", body)
            for page, number, body in cpp() if "int main(" in body]


def guide():
    """The text of guide.cc, which contains every block that is no program."""
    template = pathlib.Path(__file__).with_name("guide.cc.in").read_text()
    bodies = {(page, number): body for page, number, body in cpp()}
    placed = {(page, int(number)) for page, number in FRAGMENT.findall(template)}
    for page, number in sorted({key for key, body in bodies.items() if "int main(" not in body} ^ placed):
        if (page, number) not in bodies or (page, number) not in placed:
            sys.exit(f"tests/house/guide.cc.in and the pages differ in C++ block {number} of {page}")
    return FRAGMENT.sub(lambda at: bodies[at[1], int(at[2])], template)


def commands():
    """The lines of all sh blocks of README.md that are not comments."""
    return [line for body in blocks("README.md", "sh") for line in body.splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in [("guide", guide()), *programs()]:
        path = folder / f"{name}.cc"
        if not path.exists() or path.read_text() != body:
            path.write_text(body)
        if name != "guide":
            print(path)
