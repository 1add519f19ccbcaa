"""The project's files, for the tests of this folder."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def names():
    """The files that git would commit; without git or a clone, all files outside of build folders."""
    try:
        listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 check=True, capture_output=True, text=True).stdout
        return set(listing.split("\0")) - {""}
    except (OSError, subprocess.CalledProcessError):
        everything = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*")}
        return {name for name in everything if not name.startswith(("build", ".git/", ".cache/"))}


def files():
    """Every file of the project as (path relative to its top, pathlib.Path)."""
    return [(name, ROOT / name) for name in sorted(names()) if (ROOT / name).is_file()]


def sources():
    """(name, text) of every C++ file."""
    return [(name, path.read_text()) for name, path in files() if path.suffix in (".h", ".cc", ".cu")]
