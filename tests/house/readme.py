"""The code blocks of pages, and the examples in the comments of headers. Usage: readme.py FOLDER writes the C++ programs of
the pages there, guide.cc with all fragments of pages, and examples.cc with all examples of headers, and prints the paths of
the programs."""

import pathlib
import re
import sys

import tree

FRAGMENT = re.compile(r"^@(\S+) (\d+)@$", re.MULTILINE)  # in guide.cc.in
EXAMPLE = re.compile(r"(?:^ *//   .*\n)+", re.MULTILINE)  # in a comment of a header
IS_CPP = re.compile(r"[;{]\s*(?://.*)?$|;\s*\}", re.MULTILINE)  # and no table, picture, YAML or JSON
FOLDERS = ("lp/", "nodes/", "launchers/", "programs/", "tools/")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [body for name, body in BLOCK.findall((tree.ROOT / page).read_text()) if name == language]


def cpp():
    """Page, number and text of every C++ block of every page."""
    pages = sorted(name for name in tree.names() if name.endswith(("README.md", "programs/pipelines.md")) and (tree.ROOT / name).is_file())
    return [(page, number, body) for page in pages for number, body in enumerate(blocks(page, "cpp"), 1)]


def programs():
    """Name and text of every block of every page that is a whole program."""
    return [(f"{page[:-3].replace('/', '_').lower()}_{number}", body)
            for page, number, body in cpp() if "int main(" in body]


def fill(name, bodies):
    """The text of the template NAME.in, where each line @FILE N@ becomes a body. All that are no programs must be there."""
    template = pathlib.Path(__file__).with_name(name + ".in").read_text()
    placed = {(page, int(number)) for page, number in FRAGMENT.findall(template)}
    required = {key for key, body in bodies.items() if "int main(" not in body}
    for page, number in sorted(required - placed) + sorted(placed - bodies.keys()):
        sys.exit(f"tests/house/{name}.in and the files differ in C++ block {number} of {page}")
    return FRAGMENT.sub(lambda at: bodies[at[1], int(at[2])], template)


def guide():
    """The text of guide.cc, which contains every block that is no program."""
    return fill("guide.cc", {(page, number): body for page, number, body in cpp()})


def examples_of(text):
    """The C++ examples in the comments of a header."""
    blocks = [re.sub(r"^ *//   ", "", block, flags=re.MULTILINE) for block in EXAMPLE.findall(text)]
    return [block for block in blocks if IS_CPP.search(block)]


def examples():
    """The text of examples.cc, which contains every example of every header."""
    headers = [name for name in sorted(tree.names())
               if name.startswith(FOLDERS) and name.endswith(".h") and (tree.ROOT / name).is_file()]
    return fill("examples.cc", {(name, number): body for name in headers
                                for number, body in enumerate(examples_of((tree.ROOT / name).read_text()), 1)})


def commands():
    """The lines of all sh blocks of README.md that are not comments."""
    return [line for body in blocks("README.md", "sh") for line in body.splitlines() if line and not line.startswith("#")]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in [("guide", guide()), ("examples", examples()), *programs()]:
        path = folder / f"{name}.cc"
        if not path.exists() or path.read_text() != body:
            path.write_text(body)
        if name not in ("guide", "examples"):
            print(path)
