"""The page of `lp ui` in Chromium: it shows a live run, follows its logs, restarts a node, survives its launcher.

    page_test.py LP PROGRAM [FOLDER]    FOLDER: keeps pictures of all views there
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import browser

LP, PROGRAM = sys.argv[1:3]
PICTURES = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
VIEWS = ["graph", "nodes", "logs", "curves", "events", "checkpoints", "why"]
EVIL = '<img src=x onerror="document.title=\'caught\'"><script>document.title="caught"</script>'
NODES = 1000


class State:
    """The runs of this test, with the programs and the servers that it has started."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lp-ui-")
        self.environment = os.environ | {"XDG_STATE_HOME": self.folder.name}
        self.runs = pathlib.Path(self.folder.name) / "lp/runs"
        self.processes = []

    def start(self, *words, **options):
        self.processes.append(subprocess.Popen(words, env=self.environment, **options))
        return self.processes[-1]

    def lp(self, *words):
        return subprocess.run([LP, *words], env=self.environment, capture_output=True, text=True, timeout=60)

    def ui(self, *flags):
        """Starts lp ui. Returns its process and the address of its page."""
        process = self.start(LP, "ui", "--json", *flags, stdout=subprocess.PIPE, text=True)
        return process, json.loads(process.stdout.readline())["url"]

    def program(self, *flags):
        """Starts a program whose workers count. Returns its process and the name of its run, when it is live."""
        process = self.start(PROGRAM, "program", "--launch=processes", *flags, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + browser.LIMIT
        while time.monotonic() < end:
            for run in json.loads(self.lp("list", "--json").stdout):
                if run["record"]["pid"] == process.pid and run["state"] == "running":
                    return process, run["name"]
        raise TimeoutError("the program does not run")

    def leave_run(self, name, node_names, node_type, events=()):
        """Leaves the files of a run that has ended."""
        folder = self.runs / name
        (folder / "logs/a").mkdir(parents=True)
        groups = [{"name": "a", "type": node_type, "replicas": len(node_names), "active": True},
                  {"name": "b", "type": "B", "replicas": 1, "active": False}]
        nodes = [{"name": node, "group": "a", "index": i, "process": i, "calls": ["b"]} for i, node in enumerate(node_names)]
        nodes.append({"name": "b", "group": "b", "index": 0, "process": len(nodes), "calls": []})
        files = {
            "plan.json": {"program": EVIL, "fingerprint": "0", "processes": len(nodes), "groups": groups, "nodes": nodes},
            "run.json": {"run": name, "program": EVIL, "launch": "processes", "host": EVIL, "began": 1000},
            "status.json": {"run": name, "phase": "ended", "nodes": [
                {"name": node["name"], "state": "failed", "text": EVIL, "values": {EVIL: 1}} for node in nodes]},
            "result.json": {"success": False, "reason": EVIL, "cause": {"node": node_names[0], "what": EVIL}, "ended": 2000, "seconds": 1000},
        }
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content))
        (folder / "events.log").write_text("".join(json.dumps(event) + "\n" for event in events))
        return folder

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
            if process.stdout:
                process.stdout.close()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.folder.cleanup()


class Page(unittest.TestCase):
    def setUp(self):
        self.state = State()
        self.addCleanup(self.state.end)
        self.browser = browser.Browser(hosts="MAP *.example 127.0.0.1")
        self.addCleanup(lambda: self.browser.__exit__())

    def open(self, url, run=None, view="graph"):
        self.browser.open("about:blank")
        self.browser.open(url + (f"#/run/{run}/{view}" if run else "#/"))
        self.browser.wait("document.querySelector('#view > *, tbody tr, .empty:not([hidden])')")

    def go(self, view):
        self.browser.click(f".tabs a[data-view={view}]")
        self.browser.wait(f"document.querySelector('.tabs a[data-view={view}]').hasAttribute('aria-current')")

    def shows(self, text, limit=browser.LIMIT):
        self.browser.wait(f"document.body.innerText.includes({json.dumps(text)})", limit)

    def test_a_live_run(self):
        program, run = self.state.program("--steps=1000000000", "--restart", "--mode=prints")
        _, url = self.state.ui()
        self.open(url)
        self.browser.wait("document.querySelector('tbody a')")
        self.browser.click("tbody a")
        self.browser.wait("document.querySelector('#state') && document.querySelector('#state').textContent === 'running'")
        self.rates_move()
        self.log_is_followed(run)
        self.node_is_restarted()
        self.launcher_is_lost_and_back(program)
        self.go("why")
        self.shows("Looked at ")
        self.run_is_stopped(program)
        self.assertEqual([], self.browser.faults())

    def rates_move(self):
        self.browser.wait("shown.rates && shown.rates.group_edges[0][2] > 0")
        calls = self.browser.run("shown.rates.all[0]")
        self.browser.wait(f"shown.rates.all[0] !== {calls}")
        frames = self.browser.run("shown.view.frames")
        self.browser.wait(f"shown.view.frames > {frames} + 5")  # the dots on the arrows go
        self.go("nodes")
        cell = "document.querySelectorAll('#view table')[1]?.rows[1]?.cells[2].textContent"  # the table comes with rates
        self.browser.wait(f"parseFloat({cell}) > 0")
        before = self.browser.run(cell)
        self.browser.wait(f"{cell} !== {json.dumps(before)}")

    def log_is_followed(self, run):
        self.go("logs")
        box = "document.querySelector('.log')"
        self.browser.wait(f"{box}.children.length > 100")
        self.search("(AN? ERR|^bytes)")
        self.browser.click("input[type=checkbox]")  # small letters count as well
        self.browser.wait(f"{box}.children.length === 4 && {box}.textContent.includes('bytes \\\\x01\\\\xff')")
        self.search("")
        self.browser.wait(f"{box}.children.length > 100")
        log = self.state.runs / run / "logs/worker/1.log"
        with log.open("a") as file:  # as the node would
            file.write("no end of a line\n" + EVIL + "\x1b[31mred\x1b[0m\x07\n")
        self.browser.wait(f"{box}.lastChild.textContent.endsWith({json.dumps(EVIL + 'red' + chr(92) + 'x07')})")
        self.browser.wait(f"{box}.scrollHeight - {box}.clientHeight - {box}.scrollTop < 30")
        self.assertEqual(0, self.browser.run("document.querySelectorAll('main img, main script').length"))

    def fits(self, width, view):
        """Nothing is cut off, and nobody has to scroll sideways: neither the page nor a table."""
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, view)
        self.assertEqual([], self.browser.run("""[...document.querySelectorAll('.scroll, .tabs, .bar')]
            .filter((place) => place.scrollWidth > place.clientWidth).map((place) => place.innerText)"""), view)

    def search(self, text):
        self.browser.run(f"""{{ const field = document.querySelector('input[type=search]'); field.value = {json.dumps(text)};
                               field.dispatchEvent(new Event('input')); }}""")

    def node_is_restarted(self):
        self.go("nodes")
        self.browser.wait("shown.run.nodes[2].incarnation === 1")
        self.browser.run("document.querySelectorAll('#view tbody tr')[2].querySelector('button').click()")
        self.browser.click("#restart")
        self.browser.wait("document.querySelector('dialog').open")
        self.browser.run("document.querySelector('dialog .danger').click()")
        self.shows("is restarted")
        self.browser.press("Escape", 27)
        self.browser.wait("!document.querySelector('dialog').open")
        self.browser.wait("shown.run.nodes[2].incarnation === 2 && shown.run.nodes[2].state === 'running'")
        self.go("events")
        self.shows("incarnation 2")

    def launcher_is_lost_and_back(self, program):
        self.go("graph")
        program.send_signal(signal.SIGSTOP)
        self.shows("The launcher of the run has not answered for ")
        program.send_signal(signal.SIGCONT)
        self.browser.wait("!document.body.innerText.includes('has not answered')")
        self.browser.wait("shown.rates && shown.rates.all[0] > 0")

    def run_is_stopped(self, program):
        self.browser.click("#stop")
        self.browser.run("document.querySelector('dialog input[type=text]').value = 'seen <b>enough</b>'")
        self.browser.run("document.querySelector('dialog .danger').click()")
        self.browser.wait("document.querySelector('#state').textContent === 'stopped'")
        self.shows("(lp ui): seen <b>enough</b>")
        self.assertEqual(3, program.wait(browser.LIMIT))

    def test_nothing_of_a_node_becomes_code(self):
        names = [EVIL, "a/\x07\x1b[31m", "a/" + "x" * 300]
        folder = self.state.leave_run("evil-1", names, EVIL, [{"time": 1001, "kind": "failed", "node": EVIL, "text": EVIL}])
        curve = folder / "curves" / "a"
        curve.mkdir(parents=True)
        (curve / "events.out.tfevents.1.lp").write_bytes(b"no record")
        _, url = self.state.ui()
        self.open(url)
        self.shows("<script>")
        for view in VIEWS:
            self.open(url, "evil-1", view)
            self.browser.wait("shown.run")
        self.open(url, "evil-1", "nodes")
        self.shows(EVIL)
        self.fits(1280, "nodes with long names")
        self.browser.look(400, 780, False)
        self.fits(400, "nodes with long names")
        self.assertNotIn("caught", self.browser.run("document.title"))
        self.assertEqual(0, self.browser.run("document.querySelectorAll('main img, main script').length"))
        self.assertEqual([], self.browser.faults())

    def test_the_connection_is_lost(self):
        self.state.leave_run("old-1", ["a/0"], "A")
        server, url = self.state.ui()
        self.open(url)
        self.shows("connected")
        server.terminate()
        self.shows("lp ui does not answer; trying again")
        _, other = self.state.ui(f"--port={url.split(':')[2].split('/')[0]}")
        self.shows("This address is of another lp ui")
        self.assertNotEqual(url, other)

    def test_without_the_token_there_is_nothing(self):
        _, url = self.state.ui()
        self.browser.open(url.split("?")[0])
        self.shows("the address needs its token")
        self.assertNotIn("Runs", self.browser.run("document.body.innerText"))

    def test_pages_of_strangers_get_nothing_also_with_the_token(self):
        self.state.leave_run("secret-1", ["a/0"], "A")
        _, url = self.state.ui()
        address, token = url.split("/?token=")
        rebound = "http://evil.example:" + address.split(":")[2]  # a name that leads here
        self.browser.open(f"{rebound}/?token={token}")
        self.browser.wait("document.body && document.body.innerText")
        self.assertNotIn("Runs", self.browser.run("document.body.innerText"))
        # The refusal is a page of that name: it may ask its own address without any question of origins.
        ask = """(async () => {
          const answer = async (address, options) => {
            try { return await (await fetch(address, options)).text(); } catch (error) { return 'no answer'; }
          };
          const head = {headers: {'x-lp-token': %s}};
          return {own: await answer(location.origin + '/api/runs', head), other: await answer(%s + '/api/runs', head),
                  blind: await answer(%s + '/api/runs', {mode: 'no-cors'}),
                  framed: await new Promise((done) => {
                    const frame = document.createElement('iframe');
                    frame.onload = () => { try { done(frame.contentDocument.body.innerText); } catch (error) { done(''); } };
                    frame.src = %s;
                    document.body.append(frame);
                  })};
        })()""" % tuple(map(json.dumps, [token, address, address, url]))
        found = self.browser.run(ask)
        self.assertNotIn("secret-1", json.dumps(found))
        self.assertEqual("no answer", found["other"])
        self.assertEqual("", found["blind"])
        self.open(url)
        self.shows("secret-1")

    def test_all_views_fit_and_use_the_keyboard(self):
        program, run = self.state.program("--steps=1000000000", "--restart", "--mode=prints")
        _, url = self.state.ui("--read-only")
        for width, height in [(1280, 860), (400, 780)]:
            for dark in [False, True]:
                self.browser.look(width, height, dark)
                for view in ["list"] + VIEWS:
                    self.open(url, None if view == "list" else run, view)
                    self.browser.wait("view === 'list' || shown.rates".replace("view === 'list'", str(view == "list").lower()))
                    self.fits(width, view)
                    if PICTURES:
                        self.browser.picture(PICTURES / f"{view}_{width}_{'dark' if dark else 'light'}.png")
        self.assertEqual(0, self.browser.run("document.querySelectorAll('.danger').length"))  # it is read-only
        self.open(url, run, "graph")
        self.browser.wait("shown.run && shown.view.rates")
        self.browser.run("document.querySelector('canvas').focus()")
        for key, code in [("ArrowRight", 39), ("ArrowRight", 39), ("Enter", 13)]:
            self.browser.press(key, code)
        self.browser.wait("shown.view_name === 'nodes' && document.querySelector('tr.chosen')")
        self.assertEqual([], self.browser.faults())
        self.state.lp("stop", run)
        program.wait(browser.LIMIT)

    def test_a_thousand_nodes(self):
        self.state.leave_run("large-1", [f"a/{i}" for i in range(NODES - 1)], "A")
        _, url = self.state.ui()
        self.open(url, "large-1")
        self.browser.wait("shown.run && shown.run.nodes.length === 1000")
        # Each line comes each second; each picture shows all nodes and the dots that go.
        took = self.browser.run("""(async () => {
          const rate = () => ({cpu: Math.random(), memory: 1e8, in: 1000 * Math.random(), out: 10, queue: 2, p50: 1e-4, p99: 1e-3});
          const line = () => shown.take({rates: {nodes: shown.nodes.map(rate), edges: shown.nodes.map((_, i) => [i, 999, 10, 0, 1, 1, 1e-4, 1e-3]),
            group_edges: [[0, 1, 9990, 0, 1e6, 3, 1e-4, 1e-3, 0, 0]], all: [9990, 0, 1e6, 3, 1e-4, 1e-3], left_out: 0, launcher_cpu: 0, launcher_memory: 0}});
          for (const node of shown.run.nodes) node.state = 'running';
          const lines = [], pictures = [];
          for (let i = 0; i < 60; ++i) {
            await new Promise(requestAnimationFrame);
            let begin = performance.now();
            if (i % 20 === 0) { line(); lines.push(performance.now() - begin); }
            begin = performance.now();
            shown.view.dirty = true;
            shown.view.draw(begin);
            shown.view.context.getImageData(0, 0, 1, 1);  // waits for the picture
            pictures.push(performance.now() - begin);
          }
          // The view draws by itself. A busy machine delays some pictures, hence the shortest of several times.
          let second = Infinity;
          for (let round = 0; round < 8; ++round) {
            const begin = performance.now(), first = shown.view.frames;
            line();
            while (shown.view.frames < first + 30) await new Promise(requestAnimationFrame);
            second = Math.min(second, performance.now() - begin);
          }
          const middle = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
          return {line: middle(lines), picture: middle(pictures), rate: 30000 / second};
        })()""")
        print(f"1000 nodes: {took['rate']:.0f} pictures/s; one takes {took['picture']:.1f} ms, a line of rates {took['line']:.1f} ms")
        self.assertLess(took["picture"], 1000 / 30)
        self.assertGreater(took["rate"], 30)
        self.go("nodes")
        self.assertEqual([], self.browser.faults())
        if PICTURES:
            self.go("graph")
            self.browser.picture(PICTURES / "thousand.png")


if __name__ == "__main__":
    if browser.find() is None:
        print("skipped: there is no Chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
