"""Hosts made of namespaces, and programs in them.

Everything lives below one outermost process namespace. Its first process reads from a pipe that only
this process can write to, so it ends, and the kernel ends and removes everything below it, when this
process ends in any way.
"""
import os
import pathlib
import signal
import subprocess
import tempfile
import time


class NotPermitted(Exception):
    """No namespaces here, or no program to make them with."""


def _first_process(pid):
    """The process at the end of the line: what an unshare or nsenter with this id started."""
    while True:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            return pid
        pid = int(children[0])


class Namespace:
    """Network, mounts and processes of their own, inside those of a parent where there is one."""

    def __init__(self, parent=None, hostname=None):
        self.name = hostname or "the outer namespace"
        self._user = parent._user if parent else os.geteuid() != 0
        words = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        script = "ip link set lo up && "
        if hostname:
            # Programs find their interfaces in sysfs, which shows those of whoever mounted it.
            script += f"hostname {hostname} && mount -t tmpfs none /dev/shm && mount -t sysfs none /sys && "
        elif self._user:
            words += ["--user", "--map-root-user"]
        # `read` is part of the shell: nothing else runs in here.
        words += ["sh", "-c", script + "echo up && read -r _"]
        enter = parent.enter() if parent else []
        try:
            self._popen = subprocess.Popen([*enter, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True, start_new_session=True)
        except FileNotFoundError as missing:
            raise NotPermitted(str(missing)) from missing
        if self._popen.stdout.readline() != "up\n":
            said = self._popen.stderr.read().strip()
            self.end()
            raise NotPermitted(said or "a namespace did not start")
        self.pid = _first_process(self._popen.pid)

    def enter(self):
        """What to put before a command so that it runs in here. The command is a child of it."""
        user = ["--user", "--preserve-credentials"] if self._user else []
        return ["nsenter", "--target", str(self.pid), "--net", "--uts", "--mount", "--pid", *user]

    def sh(self, *words, given=None):
        """Runs a command in here; its output. Fails loudly."""
        done = subprocess.run([*self.enter(), *words], input=given, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {' '.join(words)}: {given or ''}{done.stdout}{done.stderr}".rstrip())
        return done.stdout

    def ip(self, *lines):
        """Several commands of `ip` at once."""
        if lines:
            self.sh("ip", "-batch", "-", given="\n".join(lines) + "\n")

    def ip_outside(self, *lines):
        """The same seen from the processes outside, so that `netns PID` may name any namespace."""
        user = ["--user", "--preserve-credentials"] if self._user else []
        enter = ["nsenter", "--target", str(self.pid), "--net", *user]
        done = subprocess.run([*enter, "ip", "-batch", "-"], input="\n".join(lines) + "\n",
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {lines}: {done.stdout}{done.stderr}".rstrip())

    def tc(self, *lines):
        if lines:
            self.sh("tc", "-batch", "-", given="\n".join(lines) + "\n")

    def sysctl(self, **values):
        """net.ipv4 and net.ipv6 settings: ipv4_ip_forward=1. Inside names, dots are double underscores."""
        script = "".join(f"echo {value} > /proc/sys/net/{name.replace('_', '/', 1).replace('__', '/')}\n"
                         for name, value in values.items())
        self.sh("sh", "-e", given=script)

    def root(self, path):
        """A file as programs in here see it, readable from outside."""
        return pathlib.Path(f"/proc/{self.pid}/root{path}")

    def end(self):
        """Ends every process in here, waits for that, and so removes the namespace."""
        if self._popen.poll() is None:
            pid = getattr(self, "pid", None)
            if pid:
                os.kill(pid, signal.SIGKILL)
            else:
                self._popen.kill()
        self._popen.communicate()


class Program:
    """A program in a namespace. Its output goes to a file without a name."""

    def __init__(self, namespace, argv, env):
        self._text = tempfile.TemporaryFile()
        self._popen = subprocess.Popen([*namespace.enter(), *map(str, argv)], env=env, stdin=subprocess.DEVNULL,
                                       stdout=self._text, stderr=subprocess.STDOUT)

    def _signal(self, number):
        """To the program, not to the nsenter that waits for it; nsenter repeats its end and its stop."""
        until = time.monotonic() + 5
        while self._popen.poll() is None and time.monotonic() < until:
            try:
                child = _first_process_below(self._popen.pid)
                if child:
                    os.kill(child, number)
                    return
            except (FileNotFoundError, ProcessLookupError):
                pass
            time.sleep(0.005)

    def kill(self):
        self._signal(signal.SIGKILL)

    def terminate(self):
        self._signal(signal.SIGTERM)

    def stop(self):
        self._signal(signal.SIGSTOP)

    def cont(self):
        self._signal(signal.SIGCONT)
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGCONT)

    def poll(self):
        return self._popen.poll()

    def wait(self, timeout=None):
        """The exit code, negative for a signal; None after `timeout` seconds."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def output(self):
        """All that it has printed so far."""
        return os.pread(self._text.fileno(), os.fstat(self._text.fileno()).st_size, 0).decode(errors="replace")


def _first_process_below(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None
