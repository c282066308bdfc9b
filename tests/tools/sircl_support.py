"""What the tests of the command line share."""
import os
import re
import subprocess
import sys
import time
import unittest

SIRCL = os.path.abspath(sys.argv.pop(1))
# What another launcher or the caller left behind must not decide the outcome.
FOREIGN = re.compile(r"^(SIRCL_|OMPI_|PMI_|PMIX_|PRTE_|MPI_|HYDRA_|SLURM_|TORCHELASTIC_|NCCL_)"
                     r"|^(RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT)$")


def environment(**more):
    env = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return {**env, **more}


def start(*arguments, env=None, **how):
    return subprocess.Popen([SIRCL, *map(str, arguments)], env=env or environment(), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def sircl(*arguments, env=None, **how):
    """Exit status, stdout and stderr; stdin is empty unless said otherwise."""
    how.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([SIRCL, *map(str, arguments)], env=env or environment(), text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    return done.returncode, done.stdout, done.stderr


def wait_until(true, seconds=30):
    """Long, because machines may be busy; ends as soon as it is true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def gone(pid):
    """Whether no process of that number runs; one that has ended but was not reaped does not run."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


class Case(unittest.TestCase):
    maxDiff = None

    def refused(self, *arguments, text, env=None, code=2):
        """The command fails with exactly one line on stderr that has `text`, and prints nothing else."""
        status, out, err = sircl(*arguments, env=env)
        self.assertEqual((status, out, err.count("\n")), (code, "", 1), err)
        self.assertIn(text, err)


def main():
    unittest.main(verbosity=2)
