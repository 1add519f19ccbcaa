"""Drives Chromium without a window over its DevTools protocol, with the standard library alone.

The protocol is JSON over two pipes, each message ended by a zero byte (chromium --remote-debugging-pipe).
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LIMIT = 60  # seconds for anything that a test waits for


def find():
    """The path of Chromium, or None."""
    return next((path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path), None)


class Browser:
    """A browser with one page. Use it in a `with`."""

    def __init__(self, width=1280, height=860, dark=False, hosts=""):
        """`hosts`: rules for names of hosts, as "MAP example.com 127.0.0.1"."""
        self.profile = tempfile.TemporaryDirectory(prefix="lp-browser-", ignore_cleanup_errors=True)
        to_read, self.output = os.pipe()
        self.input, to_write = os.pipe()

        def connect():  # the browser reads from 3 and writes to 4
            reading, writing = os.dup(to_read), os.dup(to_write)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--host-resolver-rules={hosts}", f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.events = b"", 0, []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.look(width, height, dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(5)  # now and then it stays
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.output)
        os.close(self.input)
        self.profile.cleanup()

    def call(self, method, **parameters):
        """Sends a command, and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        end = time.monotonic() + LIMIT
        while b"\0" not in self.rest:
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.input, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def look(self, width, height, dark):
        """The size of the window, and its theme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression of JavaScript in the page; of a promise, its result."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def wait(self, script, limit=LIMIT):
        """Waits until the expression is true."""
        end = time.monotonic() + limit
        while True:
            if self.run(f"!!({script})"):
                return
            if time.monotonic() > end:
                raise TimeoutError(f"not within {limit} s: {script}; the page shows: " + self.run("document.body.innerText")[:2000])
            self.run("new Promise((done) => setTimeout(done, 50))")

    def press(self, key, code=0):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def faults(self):
        """The exceptions and errors of the page so far."""
        self.run("0")
        found = [event["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception")
                 for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        return found + [event["params"]["entry"]["text"] for event in self.events if event.get("method") == "Log.entryAdded"
                        and event["params"]["entry"]["source"] == "security"]
