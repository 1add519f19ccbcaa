"""Programs in a real Kubernetes, which comes up for this test: kubernetes_build.sh makes its binaries, once.

Usage: kubernetes_test.py LP PAUSE DIGITS COUNTING [TEST...]"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = pathlib.Path(__file__).parent
PATIENCE = 200  # seconds
KINDS = "all,secret,configmap,serviceaccount"
BINARIES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"]
TOOLS = ["etcd", "containerd", "runc", "conntrack", "iptables", "ip", "dnsmasq", "kubectl", "openssl"]
LONG = ["--workers=3", "--servers=2", "--steps=3000", "--hidden=64", "--seed=4"]  # long enough to be disturbed


def missing():
    """The reason why no cluster can run here; empty: one can."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    binaries = pathlib.Path(os.environ.get("LP_KUBERNETES", f"{cache}/lp/kubernetes"), "bin")
    if os.geteuid() != 0:
        return "only root can make the cluster's nodes"
    if any(not (binaries / name).exists() for name in BINARIES):
        return f"there is no Kubernetes in {binaries}: tests/cluster/kubernetes_build.sh makes it"
    tools = [name for name in TOOLS if shutil.which(name) is None]
    return f"missing: {', '.join(tools)}" if tools else ""


def kubectl(*arguments, **options):
    return subprocess.run(["kubectl", *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE,
                          **options).stdout


def setUpModule():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where it is ignored, as in the background, programs heed that
    directory = tempfile.mkdtemp(prefix="lp-kubernetes-")
    os.environ["D"] = directory + "/cluster"
    os.environ["KUBECONFIG"] = directory + "/cluster/admin.conf"
    os.environ["XDG_STATE_HOME"] = directory + "/state"
    images = []
    for binary, tag in [(PAUSE, "pause"), (DIGITS, "digits"), (COUNTING, "counting")]:
        images.append(f"{directory}/{tag}.tar")
        subprocess.run([LP, "image", binary, f"--tag=localhost/{tag}:1", f"--output={images[-1]}"], check=True,
                       stdout=subprocess.DEVNULL)
    os.environ["IMAGES"] = " ".join(images)
    unittest.addModuleCleanup(shutil.rmtree, directory, ignore_errors=True)
    unittest.addModuleCleanup(subprocess.run, [HERE / "kubernetes_down.sh"])
    with open(directory + "/up.log", "w+") as log:
        up = subprocess.run([HERE / "kubernetes_up.sh"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.seek(0)
        if up.returncode != 0:
            raise AssertionError("the cluster did not come up:\n" + log.read())


class Launched:
    """A program in the cluster; for a `with` statement."""

    def __init__(self, *command):
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True)
        self.shown = ""

    def __enter__(self):
        self.name = self.read_until(" runs in Kubernetes").rsplit("lp: ", 1)[1].split(" ")[0]
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def read_until(self, text):
        for line in self._process.stdout:
            self.shown += line
            if text in line:
                return line
        raise AssertionError(f"it ended without {text!r}:\n{self.shown}")

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Its exit code."""
        self.shown += self._process.stdout.read()
        return self._process.wait(PATIENCE)

    def result(self):
        code = self.wait()
        if code != 0:
            raise AssertionError(f"it ended with {code}:\n{self.shown}")
        return json.loads(next(line for line in self.shown.splitlines() if line.startswith("{")))


def digits_of(image, *flags):
    return Launched(DIGITS, "--launch=kubernetes", f"--image=localhost/{image}:1", *flags)


def counting(*flags):
    return Launched(COUNTING, "program", "--launch=kubernetes", "--image=localhost/counting:1", *flags)


def lp(*words):
    """The output of the lp command, and its exit code."""
    done = subprocess.run([LP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PATIENCE)
    return done.stdout, done.returncode


def until(condition, what, patience=PATIENCE):
    """Polls the condition until it holds."""
    end = time.monotonic() + patience
    while not (answer := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.5)
    return answer


def lp_until(text, *words):
    """Runs lp until its output has this."""
    until(lambda: text in lp(*words)[0], f"lp {' '.join(words)} says {text!r}")


def processes(file, word):
    """The processes of this machine that have the word in their `cmdline` or `environ`."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (process / file).read_bytes().split(b"\0"):
                found.add(int(process.name))
        except OSError:
            continue
    return found


def pods_of(name):
    """The run's pods, as the cluster describes them."""
    return json.loads(kubectl("get", "pods", f"--selector=lp/run={name}", "--output=json"))["items"]


class CutOff:
    """The node of the cluster that has the coordinator of a run, or the other one, without its network: its interface
    has lost its carrier. For a `with` statement, at whose end the node is as it was."""

    def __init__(self, name, with_coordinator=False):
        self.name = name
        places = {pod["spec"]["hostname"]: pod["spec"]["nodeName"] for pod in pods_of(name)}
        self.node = next(node for host, node in places.items() if (node == places["coordinator"]) == with_coordinator)
        self.hosts = [host for host, node in places.items() if node == self.node]
        self._link = self.node.replace("node", "k8sns") + "v"

    def _set(self, state):
        subprocess.run(["ip", "link", "set", self._link, state], check=True)

    def __enter__(self):
        self._processes = self._all()
        self._set("down")
        return self

    def __exit__(self, *_):
        self._set("up")
        until(lambda: "NoExecute" not in self._taints(), self.node + " is ready again")

    def _taints(self):
        return kubectl("get", "node", self.node, "--output=jsonpath={.spec.taints}")

    def _all(self):
        return {process for host in self.hosts for process in processes("environ", f"LP_RUN={self.name}@{host}")}

    def given_up(self):
        """True once Kubernetes has noticed it."""
        return "NoExecute" in self._taints()

    def loss(self):
        """The line by which the run reports the loss of a host, as a regular expression."""
        return f"was lost with its host ({'|'.join(self.hosts)}) on {self.node}: it has not answered for 1"

    def expect_end(self, seconds):
        """Waits for the end of all processes of the run that were on this node."""
        until(lambda: not self._processes & self._all(), f"{self._processes} of {self.hosts} have ended", seconds)

    def replaced(self):
        """True once other nodes have all pods that this one had."""
        there = {pod["spec"]["hostname"] for pod in pods_of(self.name)
                 if pod["spec"].get("nodeName") not in (None, self.node) and pod["status"]["phase"] == "Running"}
        return there.issuperset(self.hosts)


@contextlib.contextmanager
def gpus(count):
    """Each node of the cluster has this many. Nothing here could give one to a container; they are only counted."""
    pki = pathlib.Path(os.environ["D"], "pki")
    server = json.loads(kubectl("config", "view", "--output=json"))["clusters"][0]["cluster"]["server"]
    tls = ssl.create_default_context(cafile=pki / "ca.crt")
    tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    nodes = kubectl("get", "nodes", "--output=name").split()

    def patch(change):
        for node in nodes:
            request = urllib.request.Request(f"{server}/api/v1/{node.replace('node/', 'nodes/')}/status", method="PATCH",
                                             headers={"Content-Type": "application/json-patch+json"},
                                             data=json.dumps([change]).encode())
            urllib.request.urlopen(request, context=tls, timeout=PATIENCE).close()

    def allocatable():
        return kubectl("get", "nodes", r"--output=jsonpath={.items[*].status.allocatable.nvidia\.com/gpu}").split()

    path = "/status/capacity/nvidia.com~1gpu"
    patch({"op": "add", "path": path, "value": str(count)})
    until(lambda: allocatable() == [str(count)] * len(nodes), "the nodes have gpus")
    yield
    patch({"op": "remove", "path": path})


def here(*flags):
    """The result of the digits as threads."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([DIGITS, "--json", f"--directory={directory}/run", *flags], capture_output=True, text=True,
                              check=True, timeout=PATIENCE)
    return json.loads(done.stdout.splitlines()[-1])


class Kubernetes(unittest.TestCase):
    def assert_nothing_is_left(self):
        self.assertEqual("", kubectl("get", KINDS, "--selector=lp/run", "--output=name"))

    def tearDown(self):
        self.assert_nothing_is_left()

    def test_a_program_computes_the_same_bits(self):
        with digits_of("digits", "--json") as digits:
            result = digits.result()
        self.assertEqual("kubernetes", result["launch"])
        self.assertEqual(here()["parameters_hash"], result["parameters_hash"])

    def test_the_manifests_pass_a_dry_run_of_the_server(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("workers: 2\ngroups:\n  worker:\n    cpus: 0.5\n    gpus: 1\n    memory: 1G\n")
            file.flush()
            manifests = subprocess.run([DIGITS, "--launch=kubernetes", "--image=localhost/digits:1", "--render",
                                        f"--config={file.name}", "--node-selector=disk=ssd",
                                        "--tolerations=gpu=yes:NoSchedule,spot"], capture_output=True, text=True,
                                       check=True).stdout
        self.assertIn("job.batch", kubectl("create", "--dry-run=server", "--filename=-", "--output=name", input=manifests))

    def test_a_pod_that_is_deleted_is_replaced_and_no_bit_changes(self):
        with digits_of("digits", "--json", "--restarts=3", *LONG) as digits:
            digits.read_until("step ")
            kubectl("delete", "pod", f"--selector=job-name={digits.name}-worker-1", "--wait=false")
            result = digits.result()
        self.assertIn("worker/1: was lost with its host worker-1", digits.shown)
        self.assertEqual(here(*LONG)["parameters_hash"], result["parameters_hash"])

    def test_a_pod_without_memory_is_the_cause(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("groups:\n  worker:\n    memory: 100M\n")
            file.flush()
            with counting("--mode=takes memory", f"--config={file.name}") as program:
                self.assertEqual(1, program.wait(), program.shown)
        self.assertIn("worker/1: was killed by the kernel because memory ran out (OOMKilled)", program.shown)

    def test_pods_with_gpus_go_where_some_are_left(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, gpus(1):
            file.write("groups:\n  worker:\n    gpus: 1\n")
            file.flush()
            with counting("--mode=says that it waits", f"--config={file.name}") as program:
                program.read_until("waiting")
                places = [pod["spec"]["nodeName"] for pod in pods_of(program.name)
                          if pod["spec"]["hostname"].startswith("worker")]
                self.assertEqual(["node1", "node2"], sorted(places))
                program.signal(signal.SIGINT)
                self.assertEqual(130, program.wait(), program.shown)
            with counting("--workers=3", f"--config={file.name}") as program:
                program.read_until("Insufficient nvidia.com/gpu")
                program.signal(signal.SIGINT)
                self.assertEqual(130, program.wait(), program.shown)

    def test_ctrl_c_stops_the_program_and_leaves_nothing(self):
        with counting("--mode=says that it waits") as program:
            program.read_until("waiting")
            program.signal(signal.SIGINT)
            self.assertEqual(130, program.wait(), program.shown)

    def test_another_terminal_sees_and_stops_a_run(self):
        with counting("--mode=says that it waits", "--submit") as program:
            self.assertEqual(0, program.wait(), program.shown)
        lp_until("worker/1  running", "status", program.name)
        self.assertIn(program.name, lp("list")[0])
        lp_until("waiting", "logs", program.name, "worker/1")
        self.assertIn("worker/1", lp("top", program.name, "--once")[0])
        said, code = lp("stop", program.name, "--reason=enough")
        self.assertEqual(0, code, said)
        self.assertIn("enough", said)
        self.assertIn("enough", lp("status", program.name)[0])  # the cluster has forgotten it
        self.assertEqual(4, lp("top", program.name)[1])

    def test_a_coordinator_that_is_killed_is_the_cause(self):
        with counting("--mode=says that it waits") as program:
            program.read_until("waiting")
            [coordinator] = processes("cmdline", f"--directory=/tmp/{program.name}")
            os.kill(coordinator, signal.SIGKILL)
            self.assertEqual(137, program.wait(), program.shown)
        self.assertIn("its coordinator ended with exit code 137 (was killed by SIGKILL)", program.shown)
        self.assertIn("failed", lp("status", program.name)[0])

    def test_a_coordinator_whose_pod_is_deleted_is_the_cause(self):
        with counting("--mode=says that it waits") as program:
            program.read_until("waiting")
            kubectl("delete", "pod", program.name + "-coordinator", "--force", "--grace-period=0")
            self.assertEqual(1, program.wait(), program.shown)
        self.assertIn("the pod of its coordinator is no longer in the cluster", program.shown)
        self.assertIn("failed", lp("status", program.name)[0])

    def test_a_node_that_is_cut_off_for_less_than_the_grace_period_changes_nothing(self):
        with digits_of("digits", "--json", "--grace=40", *LONG) as digits:
            digits.read_until("step ")
            with CutOff(digits.name) as away:
                until(away.given_up, "Kubernetes counts it as lost", 40)
            result = digits.result()
        self.assertNotIn("was lost", digits.shown)
        self.assertEqual(here(*LONG)["parameters_hash"], result["parameters_hash"])

    def test_what_was_on_a_node_that_is_cut_off_goes_on_elsewhere_and_no_bit_changes(self):
        flags = [flag.replace("=3000", "=10000") for flag in LONG]  # long enough that the node is back meanwhile
        with digits_of("digits", "--json", "--restarts=3", *flags) as digits:
            digits.read_until("step ")
            with CutOff(digits.name) as away:
                away.expect_end(20)
                until(away.replaced, "the pods have been replaced", 60)
            result = digits.result()
        self.assertRegex(digits.shown, away.loss())
        self.assertNotIn("restart 2", digits.shown)  # the returning node disturbs nobody
        self.assertEqual(here(*flags)["parameters_hash"], result["parameters_hash"])
        self.expect_no_agent(digits.name, away)

    def test_a_node_that_is_cut_off_is_the_cause_where_nothing_is_restarted(self):
        with digits_of("digits", *LONG) as digits:
            digits.read_until("step ")
            with CutOff(digits.name) as away:
                self.assertEqual(1, digits.wait(), digits.shown)
                self.assert_nothing_is_left()
        self.assertRegex(digits.shown, away.loss())
        self.expect_no_agent(digits.name, away)

    def test_what_a_node_holds_that_is_cut_off_is_removed_by_lp_stop(self):
        with counting("--mode=says that it waits", "--submit") as program:
            self.assertEqual(0, program.wait(), program.shown)
        lp_until("worker/1  running", "status", program.name)
        with CutOff(program.name) as away:
            lp_until("was lost with its host", "status", program.name)
            said, code = lp("stop", program.name)
            self.assertEqual(0, code, said)
            self.assert_nothing_is_left()
        self.expect_no_agent(program.name, away)

    def test_a_coordinator_whose_node_is_cut_off_is_the_cause(self):
        with counting("--mode=says that it waits") as program:
            program.read_until("waiting")
            with CutOff(program.name, with_coordinator=True) as away:
                kubectl("delete", "pod", program.name + "-coordinator", "--wait=false")  # as Kubernetes does in the end
                self.assertEqual(1, program.wait(), program.shown)
                self.assert_nothing_is_left()
        self.assertIn("the pod of its coordinator is no longer in the cluster", program.shown)
        self.expect_no_agent(program.name, away)

    def expect_no_agent(self, name, away):
        """Waits until no agent is left there, and no container in which one tries again."""
        for host in away.hosts:
            until(lambda: not processes("cmdline", f"--lp-dial={name}@{host}"), f"{host} has ended", 60)

    def test_an_image_that_is_not_there_is_said(self):
        with digits_of("none") as digits:
            self.assertEqual(2, digits.wait(), digits.shown)
        self.assertIn("cannot start in Kubernetes: the coordinator's pod waits: ImagePullBackOff", digits.shown)


if __name__ == "__main__":
    LP, PAUSE, DIGITS, COUNTING = sys.argv[1:5]
    if reason := missing():
        print("skipped:", reason)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
