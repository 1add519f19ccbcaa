"""The project's files, for the tests of this folder."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files():
    """Every file of the project as (path relative to its top, pathlib.Path): what git would commit, else all."""
    if (ROOT / ".git").exists():
        listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 check=True, capture_output=True, text=True).stdout
        names = sorted(set(listing.split("\0")) - {""})
    else:
        names = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file())
        names = [name for name in names if not name.startswith("build")]
    return [(name, ROOT / name) for name in names if (ROOT / name).is_file()]


def sources():
    """(name, text) of every C++ file."""
    return [(name, path.read_text()) for name, path in files() if path.suffix in (".h", ".cc", ".cu")]
