"""The memory of a process and its descendants, from /proc: see proc(5)."""

import pathlib


def descendants(process):
    out = [process]
    for parent in out:
        try:
            for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
                out += map(int, (task / "children").read_text().split())
        except OSError:
            pass  # it has ended meanwhile
    return out


def peak_kib(process):
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
