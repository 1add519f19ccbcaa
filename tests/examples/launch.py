"""Runs an example as its users do: its standard error is a terminal, on which it shows its progress."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time

SANITIZED = "LP_SANITIZED" in os.environ  # a sanitizer makes a training many times slower
PATIENCE = 300 if SANITIZED else 100  # seconds
FOLDER = pathlib.Path()  # the folder of the built examples


def command(name, *flags):
    return [str(FOLDER / name), *flags]


def run(name, *flags):
    """The finished process of an example, with its output as text."""
    with tempfile.TemporaryDirectory() as directory:
        if not any(flag.startswith("--directory=") for flag in flags):
            flags = (*flags, f"--directory={directory}/run")
        return subprocess.run(command(name, *flags), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)


def result(name, *flags):
    """The output of an example with --json."""
    process = run(name, "--json", *flags)
    if process.returncode != 0:
        raise AssertionError(f"{process.args} ended with {process.returncode}\n{process.stderr}")
    return json.loads(process.stdout.splitlines()[-1])


class Ended(AssertionError):
    """The example has ended too early."""


class Launch:
    """A running example; for a `with` statement, at whose end all its processes and files are gone."""

    def __init__(self, name, *flags):
        self._directory = tempfile.TemporaryDirectory()
        self._terminal, other_end = os.openpty()
        self._output = tempfile.TemporaryFile("w+")
        self.directory = f"{self._directory.name}/run"  # the run's directory
        self._process = subprocess.Popen(command(name, "--json", f"--directory={self.directory}", *flags),
                                         stdin=subprocess.DEVNULL, stdout=self._output, stderr=other_end)
        os.close(other_end)
        self.shown = ""  # the text on the terminal

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)
        self._output.close()
        self._directory.cleanup()

    def _read(self, end):
        """Reads the next output; False at the end."""
        if not select.select([self._terminal], [], [], max(0, end - time.monotonic()))[0]:
            raise AssertionError(f"nothing more is shown:\n{self.shown}")
        try:
            self.shown += os.read(self._terminal, 1 << 16).decode(errors="replace")
            return True
        except OSError:  # its other end is closed
            return False

    def wait_for_step(self, step):
        """Waits until the progress line shows at least this step."""
        end = time.monotonic() + PATIENCE
        seen = len(self.shown)
        while not any(int(shown) >= step for shown in re.findall(r"step (\d+)/", self.shown[seen:])):
            if not self._read(end):
                raise Ended(f"it ended before step {step}:\n{self.shown}")

    def wait_for_text(self, text):
        """Waits until the terminal shows the text."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not self._read(end):
                raise Ended(f"it ended before it showed {text}:\n{self.shown}")

    def has(self, name):
        return self._find(name) is not None

    def signal(self, name, number=signal.SIGKILL):
        """Sends the signal to the node's process, which may just be started again."""
        end = time.monotonic() + PATIENCE
        while (process := self._find(name)) is None:
            if not self._read(end):
                raise Ended(f"no process is {name}:\n{self.shown}")
        os.kill(process, number)

    def _find(self, name):
        parents = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass  # the process has ended meanwhile
        for process in parents:
            ancestor = process
            while ancestor in parents and ancestor != self._process.pid:
                ancestor = parents[ancestor]
            if ancestor != self._process.pid:
                continue
            try:
                arguments = pathlib.Path("/proc", str(process), "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(name.encode() in argument.partition(b"=")[2].split(b",") for argument in arguments):
                return process
        return None

    def stop(self):
        """Stops it in order. Returns its exit code."""
        self._process.terminate()
        return self.wait()

    def wait(self):
        """Its exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            pass
        return self._process.wait(PATIENCE)

    def result(self):
        """Its output, when it has ended with success."""
        code = self.wait()
        if code != 0:
            raise AssertionError(f"it ended with {code}:\n{self.shown}")
        return self.last_line()

    def last_line(self):
        self._output.seek(0)
        return json.loads(self._output.read().splitlines()[-1])
