"""Hosts for tests: network namespaces with disks of their own, which a real ssh reaches. They need root."""

import json
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import launch

NAMES = ["h1", "h2", "h3"]


def shell(command):
    subprocess.run(command, shell=True, check=True, stdin=subprocess.DEVNULL)


class Hosts:
    """Each host is a network namespace on one bridge. FOLDER/local is another folder on each of them."""

    def __init__(self, folder):
        self._folder = folder
        self._space = f"lp{os.getpid()}"
        self._addresses = {name: f"10.77.0.{number}" for number, name in enumerate(NAMES, 1)}

    def __enter__(self):
        folder, space = self._folder, self._space
        (folder / "local").mkdir()
        os.makedirs("/run/sshd", exist_ok=True)
        shell(f"ip netns add {space} && ip -n {space} link set lo up && ip -n {space} link add bridge type bridge && "
              f"ip -n {space} addr add 10.77.0.254/24 dev bridge && ip -n {space} link set bridge up")
        for key in ["key", "host_key"]:
            shell(f"ssh-keygen -q -t ed25519 -N '' -f {folder}/{key}")
        (folder / "sshd_config").write_text(f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/key.pub\nStrictModes no\nUsePAM no\n"
                                            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n")
        (folder / "known_hosts").write_text("".join(f"{name} " + (folder / "host_key.pub").read_text() for name in NAMES))
        # A connection enters the host, with the disk of that, unless it is lost.
        enter = f"mount --bind {folder}/disk-$1 {folder}/local && exec /usr/sbin/sshd -i -f {folder}/sshd_config -o PidFile=none"
        (folder / "connect").write_text(f"#!/bin/sh\ntest ! -e {folder}/lost-$1 || exit 1\n"
                                        f"exec nsenter --net=/run/netns/{space}$1 unshare --mount sh -c {shlex.quote(enter)} sh $1\n")
        (folder / "connect").chmod(0o755)
        (folder / "ssh_config").write_text(f"Host *\n IdentityFile {folder}/key\n IdentitiesOnly yes\n UserKnownHostsFile {folder}/known_hosts\n"
                                           f" GlobalKnownHostsFile /dev/null\n LogLevel ERROR\n ProxyCommand {folder}/connect %n\n")
        for name in NAMES:
            self.boot(name)
        return self

    def __exit__(self, *_):
        for name in NAMES:
            self.lose(name)
        shell(f"ip netns del {self._space}")

    def boot(self, name):
        """The host has an empty disk."""
        host, disk = self._space + name, self._folder / f"disk-{name}"
        disk.mkdir()
        shell(f"ip netns add {host} && ip -n {host} link set lo up && ip -n {self._space} link add {name} type veth peer name eth0 netns {host} && "
              f"ip -n {self._space} link set {name} master bridge up && ip -n {host} addr add {self._addresses[name]}/24 dev eth0 && "
              f"ip -n {host} link set eth0 up")

    def lose(self, name):
        """The host is cut off, and all that runs on it ends, as if its power failed."""
        (self._folder / f"lost-{name}").touch()
        host = self._space + name
        shell(f"ip -n {self._space} link set {name} down; ip netns pids {host} | xargs -r kill -9 2>/dev/null; "
              f"ip -n {self._space} link del {name} && ip netns del {host}")

    def disk(self, name):
        return self._folder / f"disk-{name}"

    def example(self, name):
        """The example as a command of the launcher's host."""
        wrapper = self._folder / name
        wrapper.write_text(f'#!/bin/sh\nexec nsenter --net=/run/netns/{self._space} {launch.FOLDER.absolute()}/{name} "$@"\n')
        wrapper.chmod(0o755)
        return wrapper

    def flags(self, **groups):
        """A launch on them, with these hosts for the groups."""
        places = {group: {"hosts": names} for group, names in groups.items()}
        (self._folder / "places.yaml").write_text(json.dumps({"groups": places}))
        return ["--launch=ssh", f"--ssh=ssh -F {self._folder}/ssh_config", f"--config={self._folder}/places.yaml",
                "--hosts=" + ",".join(f"{name}:4:{address}" for name, address in self._addresses.items())]


@unittest.skipUnless(os.geteuid() == 0, "needs root, for network namespaces")
class OnHosts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.hosts = self.enterContext(Hosts(self.folder))
