"""sircl launch: real processes."""
import os
import pathlib
import signal
import tempfile

from sircl_support import SIRCL, Case, environment, gone, main, sircl, start, wait_until

# A rank that tells its number and that of a child of its own, and then waits.
PARENT = 'sleep 1000 & echo $$ $! >"$DIR/$SIRCL_RANK.tmp"; mv "$DIR/$SIRCL_RANK.tmp" "$DIR/$SIRCL_RANK"; wait'


def launch_directories():
    return set(pathlib.Path("/tmp").glob("sircl-launch-*"))


class Launch(Case):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.env = environment(DIR=self.directory.name)

    def pids(self, ranks):
        """Numbers of all ranks and of their children, when all have started."""
        files = [pathlib.Path(self.directory.name) / str(rank) for rank in range(ranks)]
        self.assertTrue(wait_until(lambda: all(file.exists() for file in files)), "the ranks did not start")
        return [int(pid) for file in files for pid in file.read_text().split()]

    def all_gone(self, pids):
        return wait_until(lambda: all(gone(pid) for pid in pids))

    def test_ranks_are_told_who_they_are(self):
        code, out, err = sircl("launch", "-n", 3, "--", "sh", "-c",
                               'echo "$SIRCL_RANK/$SIRCL_SIZE/$SIRCL_LOCAL_RANK/$SIRCL_ROOT"',
                               env=environment(SIRCL_RANK="9", SIRCL_ROOT="nowhere:1"))
        self.assertEqual((code, err), (0, ""))
        lines = sorted(out.splitlines())
        roots = {line.split("/", 3)[3] for line in lines}
        self.assertEqual([line.split("/", 3)[:3] for line in lines],
                         [["0", "3", "0"], ["1", "3", "1"], ["2", "3", "2"]])
        self.assertEqual(len(roots), 1)
        root = roots.pop()
        self.assertTrue(root.startswith("file:"), root)
        self.assertFalse(pathlib.Path(root[5:]).parent.exists(), "the directory of the rendezvous stays")

    def test_a_real_group(self):
        """The ranks read their settings and find the same group."""
        code, out, err = sircl("launch", "-n", 2, "--", SIRCL, "env")
        self.assertEqual(code, 0, err)
        for rank in range(2):
            self.assertIn(f"launcher: SIRCL_*, rank {rank} of 2, local rank {rank}, root file:", out)

    def test_variables(self):
        code, out, err = sircl("launch", "-n", 1, "--env", "A=x y=z", "--env", "SIRCL_DEBUG=info", "--", "sh", "-c",
                               'echo "$A/$SIRCL_DEBUG"')
        self.assertEqual((code, out, err), (0, "x y=z/info\n", ""))

    def test_prefix(self):
        code, out, err = sircl("launch", "-n", 2, "--prefix", "--", "sh", "-c",
                               'echo one; echo; printf "no end"; echo oops >&2')
        self.assertEqual(code, 0)
        for rank in range(2):
            mine = [line for line in out.splitlines() if line.startswith(f"[{rank}]")]
            self.assertEqual(mine, [f"[{rank}] one", f"[{rank}] ", f"[{rank}] no end"])
        self.assertEqual(sorted(err.splitlines()), ["[0] oops", "[1] oops"])

    def test_prefix_keeps_lines_whole(self):
        """Two ranks write 5000 lines each, in pieces; no line is broken, mixed or lost."""
        script = 'i=0; while [ $i -lt 5000 ]; do printf "a$i"; printf "b$i\\n"; i=$((i+1)); done'
        code, out, err = sircl("launch", "-n", 2, "--prefix", "--", "sh", "-c", script)
        self.assertEqual((code, err), (0, ""))
        for rank in range(2):
            mine = [line for line in out.splitlines() if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [f"[{rank}] a{i}b{i}" for i in range(5000)])

    def test_standard_input_is_empty(self):
        read, write = os.pipe()  # never written to nor closed meanwhile: who reads it waits for ever
        self.addCleanup(os.close, write)
        self.addCleanup(os.close, read)
        code, out, _ = sircl("launch", "-n", 2, "--", "sh", "-c", "wc -c", stdin=read)
        self.assertEqual((code, out.split()), (0, ["0", "0"]))

    def test_pin(self):
        cores = sorted(os.sched_getaffinity(0))
        script = "grep Cpus_allowed_list /proc/self/status | cut -f 2; exit 0"
        code, out, _ = sircl("launch", "-n", 3, "--pin", "cores", "--prefix", "--", "sh", "-c", script)
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()), [f"[{r}] {cores[r % len(cores)]}" for r in range(3)])

    def test_status_of_the_first_failing_rank(self):
        script = ('case $SIRCL_RANK in 1) exit 5;; 0) while [ ! -e "$DIR/seen" ]; do sleep 0.05; done; exit 6;; esac')
        launcher = start("launch", "-n", 3, "--", "sh", "-c", script, env=self.env)
        self.assertEqual(launcher.stderr.readline(), "sircl launch: rank 1 ended with status 5\n")
        (pathlib.Path(self.directory.name) / "seen").touch()
        _, err = launcher.communicate(timeout=60)
        self.assertEqual((launcher.returncode, err), (5, "sircl launch: rank 0 ended with status 6\n"))

    def test_rank_ended_by_a_signal(self):
        code, _, err = sircl("launch", "-n", 1, "--", "sh", "-c", "kill -SEGV $$")
        self.assertEqual(code, 128 + signal.SIGSEGV)
        self.assertIn("rank 0 was ended by signal 11 (Segmentation fault)", err)

    def test_others_are_ended_after_a_failure(self):
        """Also one that ignores SIGTERM."""
        script = f"""if [ $SIRCL_RANK = 1 ]; then while [ ! -e "$DIR/0" ]; do sleep 0.05; done; exit 3; fi
                     trap "" TERM; {PARENT}"""
        launcher = start("launch", "-n", 2, "--grace", 0.1, "--", "sh", "-c", script, env=self.env)
        _, err = launcher.communicate(timeout=60)
        self.assertEqual(launcher.returncode, 3)
        self.assertEqual(err.splitlines(), ["sircl launch: rank 1 ended with status 3",
                                            "sircl launch: ending what still runs: rank 0"])
        self.assertTrue(self.all_gone(self.pids(1)), "a rank or its child is left behind")

    def test_background_processes_of_a_rank_end_with_it(self):
        code, _, _ = sircl("launch", "-n", 1, "--", "sh", "-c",
                           'sleep 1000 >/dev/null 2>&1 & echo $$ $! >"$DIR/0"', env=self.env)
        self.assertEqual(code, 0)
        self.assertTrue(self.all_gone(self.pids(1)), "a child of a rank is left behind")

    def test_signals_are_passed_on(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                for file in pathlib.Path(self.directory.name).iterdir():
                    file.unlink()
                # A shell notes the signal by its name and ends in order.
                script = f'trap "echo $SIRCL_RANK got it; exit 4" {number.name[3:]}; {PARENT}'
                launcher = start("launch", "-n", 2, "--", "sh", "-c", script, env=self.env)
                pids = self.pids(2)
                launcher.send_signal(number)
                out, _ = launcher.communicate(timeout=60)
                self.assertEqual(launcher.returncode, 4)
                self.assertEqual(sorted(out.splitlines()), ["0 got it", "1 got it"])
                self.assertTrue(self.all_gone(pids), "a rank or its child is left behind")

    def test_second_signal_kills(self):
        launcher = start("launch", "-n", 2, "--grace", 3600, "--", "sh", "-c", f'trap "" INT; {PARENT}', env=self.env)
        pids = self.pids(2)
        launcher.send_signal(signal.SIGINT)
        # Until the first has been taken, a second one of the same kind would be no second one.
        pending = lambda: int(pathlib.Path(f"/proc/{launcher.pid}/status").read_text().split("ShdPnd:")[1].split()[0], 16)  # noqa: E731
        self.assertTrue(wait_until(lambda: pending() == 0))
        launcher.send_signal(signal.SIGINT)
        launcher.communicate(timeout=60)
        self.assertEqual(launcher.returncode, 128 + signal.SIGKILL)
        self.assertTrue(self.all_gone(pids), "a rank or its child is left behind")

    def test_kill_of_the_launcher_leaves_nothing(self):
        for form in ([], ["--prefix"]):
            with self.subTest(form=form):
                for file in pathlib.Path(self.directory.name).iterdir():
                    file.unlink()
                before = launch_directories()
                launcher = start("launch", "-n", 3, *form, "--", "sh", "-c", f'trap "" TERM INT HUP; {PARENT}',
                                 env=self.env)
                pids = self.pids(3)
                self.assertEqual(len(pids), 6)
                self.assertFalse(any(gone(pid) for pid in pids))
                guard = [int(pid) for pid in pathlib.Path(
                    f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text().split() if int(pid) not in pids]
                launcher.kill()
                # Its output ends, so nobody holds it any more.
                launcher.communicate(timeout=60)
                self.assertTrue(self.all_gone(pids), "a rank or its child is left behind")
                self.assertTrue(self.all_gone(guard), "the guard is left behind")
                self.assertTrue(wait_until(lambda: launch_directories() <= before), "a directory is left behind")

    def test_bad_input(self):
        self.refused("launch", "-n", 2, text="no program is named; it stands after --")
        self.refused("launch", "--", "true", text="--ranks is required")
        self.refused("launch", "-n", 0, "--", "true", text="--ranks")
        self.refused("launch", "-n", "many", "--", "true", text="--ranks")
        self.refused("launch", "-n", 1, "--pin", "core", "--", "true", text="{none,cores}")
        self.refused("launch", "-n", 1, "--grace", -1, "--", "true", text="--grace")
        self.refused("launch", "-n", 1, "--env", "NAME", "--", "true", text="must be NAME=VALUE")
        self.refused("launch", "-n", 1, "--env", "=x", "--", "true", text="must be NAME=VALUE")
        self.refused("launch", "-n", 1, "--env", "SIRCL_RANK=4", "--", "true", text="sets SIRCL_RANK itself")
        self.refused("launch", "-n", 1, "--env", "SIRCL_TRANSPRT=4", "--", "true",
                     text="did you mean SIRCL_TRANSPORT?")
        self.refused("launch", "-n", 2, "--", "no-such-program-here", code=127, text="looked for it in PATH")
        self.refused("launch", "-n", 2, "--", "/no/such/program", code=127, text="/no/such/program is not there")

    def test_file_that_cannot_be_run(self):
        file = pathlib.Path(self.directory.name) / "data"
        file.write_text("no program")
        code, _, err = sircl("launch", "-n", 1, "--", file)
        self.assertEqual(code, 126)
        self.assertIn(f"cannot run {file}: Permission denied", err)


if __name__ == "__main__":
    main()
