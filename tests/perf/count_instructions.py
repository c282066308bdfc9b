"""Instructions that one rank of four executes for one all-reduce of 12,288 bytes on shared memory, waiting
not counted. Arguments: the program, the most that is allowed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

program, limit = sys.argv[1], int(sys.argv[2])
RANKS, SKIPPED = 4, 77

if not shutil.which("valgrind"):
    print("SKIPPED: valgrind is not installed")
    sys.exit(SKIPPED)

with tempfile.TemporaryDirectory() as directory:
    counting = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=measured_all_reduce",
                f"--callgrind-out-file={directory}/out"]
    ranks = []
    for rank in range(RANKS):
        # The counted rank is not the one that hosts the rendezvous. Its peers never fall asleep, so that it
        # never has to wake one.
        env = dict(os.environ, SIRCL_RANK=str(rank), SIRCL_SIZE=str(RANKS), SIRCL_TRANSPORT="shm",
                   SIRCL_ROOT=f"file:{directory}/root", SIRCL_STARTUP_WAIT_S="60", SIRCL_YIELD_US="10000000")
        # Valgrind counts the one instruction `rep movsb` once per byte; let memcpy use vectors.
        env["GLIBC_TUNABLES"] = "glibc.cpu.x86_rep_movsb_threshold=1000000000"
        command = [*counting, program, "counted"] if rank == RANKS - 1 else [program]
        ranks.append(subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT))
    texts = [rank.communicate(timeout=120)[0] for rank in ranks]

text = texts[-1]
calls = re.search(r"calls: (\d+), algorithm: (\w+)", text)
collected = re.search(r"Collected : (\d+)", text)
if any(rank.returncode != 0 for rank in ranks) or not calls or not collected:
    sys.exit(f"exit codes {[rank.returncode for rank in ranks]}\n" + "".join(texts))
per_call = int(collected.group(1)) / int(calls.group(1))
print(f"{per_call:.0f} instructions per rank and all-reduce of 12,288 bytes of f32 by {calls.group(2)}; "
      f"limit {limit}")
sys.exit(0 if 0 < per_call <= limit else 1)
