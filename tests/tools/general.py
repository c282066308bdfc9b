"""sircl --help, --version, bad commands, env and bench."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VERSION = sys.argv.pop(2)
COMMANDS = sys.argv.pop(2).split(",")
from sircl_support import SIRCL, Case, environment, main, sircl  # noqa: E402


class General(Case):
    def test_version(self):
        self.assertEqual(sircl("--version"), (0, f"sircl {VERSION}\n", ""))

    def test_help_lists_every_command(self):
        code, out, err = sircl("--help")
        self.assertEqual((code, err), (0, ""))
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command} ")

    def test_help_of_each_command_has_an_example(self):
        for command in COMMANDS:
            code, out, err = sircl(command, "--help")
            self.assertEqual((code, err), (0, ""), command)
            self.assertRegex(out, rf"Example: .*sircl {command}", command)

    def test_no_command(self):
        self.refused(text="see sircl --help")

    def test_unknown_command_names_those_there_are(self):
        self.refused("lunch", text="there is no command lunch; known are " + ", ".join(COMMANDS))

    def test_unknown_option(self):
        for command in COMMANDS:
            if command != "bench":  # its options are those of another program
                self.refused(command, "--nonsense", text=f"see sircl {command} --help")


class Env(Case):
    def settings(self, env, code=0):
        status, out, err = sircl("env", "--json", env=env)
        self.assertEqual(status, code, err)
        document = json.loads(out)
        return document, {row["name"]: row for row in document["settings"]}, err

    def test_defaults(self):
        document, rows, err = self.settings(environment())
        self.assertEqual(err, "")
        self.assertEqual(document["warnings"], [])
        self.assertEqual(document["launch"], {"source": "single process", "rank": 0, "size": 1,
                                              "local_rank": 0, "root": ""})
        self.assertEqual(rows["SIRCL_TRANSPORT"]["value"], "auto")
        self.assertEqual(rows["SIRCL_TRANSPORT"]["source"], "default")
        self.assertTrue(all(row["doc"] for row in rows.values()))
        self.assertEqual(rows["SIRCL_LIVENESS_S"]["unit"], "s")

    def test_sources(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("# a comment\nSIRCL_DEBUG=info\nSIRCL_TRANSPORT=shm\n")
            file.flush()
            env = environment(SIRCL_CONFIG_FILE=file.name, SIRCL_TRANSPORT="tcp", NCCL_SOCKET_IFNAME="=eth0")
            _, rows, _ = self.settings(env)
            text = sircl("env", env=env)[1]
            self.assertEqual(rows["SIRCL_DEBUG"]["source"], f"file {file.name} line 2")
        self.assertEqual((rows["SIRCL_DEBUG"]["value"], rows["SIRCL_DEBUG"]["default"]), ("info", "warn"))
        self.assertEqual((rows["SIRCL_TRANSPORT"]["value"], rows["SIRCL_TRANSPORT"]["source"]),
                         ("tcp", "environment"))
        self.assertEqual(rows["SIRCL_SOCKET_IFNAME"]["source"], "environment NCCL_SOCKET_IFNAME")
        self.assertRegex(text, r"(?m)^SIRCL_TRANSPORT +tcp +environment +auto +auto: shm when")
        self.assertRegex(text, r"(?m)^SIRCL_DEBUG +info +file ")
        self.assertRegex(text, r"(?m)^SIRCL_LIVENESS_S +5 s +default +5 s +how long")
        # Text and JSON know the same settings.
        self.assertEqual(re.findall(r"(?m)^(SIRCL_\w+)", text), list(rows))

    def test_secrets_are_not_shown(self):
        env = environment(SIRCL_SECRET="hunter2")
        for form in ([], ["--json"]):
            code, out, err = sircl("env", *form, env=env)
            self.assertEqual(code, 0)
            self.assertNotIn("hunter2", out + err)
            self.assertIn("***", out)

    def test_unknown_setting_is_an_error_with_the_nearest_name(self):
        self.refused("env", env=environment(SIRCL_TRANSPRT="tcp"), code=1,
                     text="unknown setting SIRCL_TRANSPRT (from environment); did you mean SIRCL_TRANSPORT?")

    def test_value_out_of_range(self):
        self.refused("env", env=environment(SIRCL_LIVENESS_S="0"), code=1, text="SIRCL_LIVENESS_S=0")

    def test_settings_without_effect(self):
        env = environment(SIRCL_NCCL="never")
        document, rows, err = self.settings(env)
        warning = "SIRCL_NCCL is set (from environment) but has no effect in this version"
        self.assertEqual(document["warnings"], [warning])
        self.assertEqual(err, f"sircl env: warning: {warning}\n")
        self.assertFalse(rows["SIRCL_NCCL"]["has_effect"])

    def test_launcher(self):
        env = environment(RANK="3", WORLD_SIZE="4", LOCAL_RANK="1", LOCAL_WORLD_SIZE="2", MASTER_ADDR="fd00::1",
                          MASTER_PORT="29500")
        document, _, _ = self.settings(env)
        self.assertEqual(document["launch"], {"source": "torchrun", "rank": 3, "size": 4, "local_rank": 1,
                                              "root": "[fd00::1]:29501"})
        self.assertIn("launcher: torchrun, rank 3 of 4, local rank 1, root [fd00::1]:29501",
                      sircl("env", env=env)[1])

    def test_contradictory_launcher(self):
        self.refused("env", env=environment(SIRCL_RANK="1"), code=1, text="SIRCL_SIZE is not")


class Bench(Case):
    def test_becomes_the_bench(self):
        """A stand-in beside a copy of the command shows what it is given."""
        with tempfile.TemporaryDirectory() as directory:
            copy = pathlib.Path(directory) / "sircl"
            shutil.copy(SIRCL, copy)
            bench = pathlib.Path(directory) / "ring_allreduce_bench"
            bench.write_text('#!/bin/sh\nprintf "<%s>" "$@"\nexit 7\n')
            bench.chmod(0o755)
            for given, got in [(["--local", "2", "a b"], "<--local><2><a b>"), (["--", "--help"], "<--help>"),
                               (["-b", "--", "x"], "<-b><--><x>")]:
                done = subprocess.run([copy, "bench", *given], env=environment(), text=True,
                                      stdout=subprocess.PIPE, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (7, got))
            bench.unlink()
            # In PATH, then nowhere.
            elsewhere = pathlib.Path(directory) / "elsewhere"
            elsewhere.mkdir()
            (elsewhere / "ring_allreduce_bench").write_text('#!/bin/sh\necho found\n')
            (elsewhere / "ring_allreduce_bench").chmod(0o755)
            path = {"PATH": f"{elsewhere}:{os.environ['PATH']}"}
            done = subprocess.run([copy, "bench"], env=environment(**path), text=True, stdout=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (0, "found\n"))
            done = subprocess.run([copy, "bench"], env=environment(PATH=directory + "/empty"), text=True,
                                  stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 127)
            self.assertIn("-DSIRCL_BENCH=ON", done.stderr)

    def test_the_real_one(self):
        if not pathlib.Path(SIRCL).with_name("ring_allreduce_bench").exists():
            self.skipTest("the bench is not built")
        code, out, err = sircl("bench", "--local", "2", "--sizes", "1K", "--rounds", "1")
        self.assertEqual(code, 0, err)
        self.assertIn("0 wrong", out)


if __name__ == "__main__":
    main()
