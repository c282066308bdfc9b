"""Starts the benchmark as four ranks in the way of one launcher; every rank must end well and the report
must say that nothing was wrong. Arguments: the way, the benchmark."""
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

RANKS = 4
SKIPPED = 77
SIZES = ["-b", "1K", "-e", "4K"]
# What another launcher or the caller left behind must not decide the outcome.
FOREIGN = re.compile(r"^(SIRCL_|OMPI_|PMI_|PMIX_|PRTE_|MPI_|HYDRA_|SLURM_|TORCHELASTIC_)"
                     r"|^(RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT)$")


def clean_environment():
    env = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    env["SIRCL_STARTUP_WAIT_S"] = "60"
    return env


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def judge(codes, text, transport="shm"):
    print(text, end="")
    if any(code != 0 for code in codes):
        sys.exit(f"exit codes {codes}")
    if not re.search(r"\b0 wrong\b", text):
        sys.exit("the report does not say '0 wrong'")
    if not re.search(rf"\b{RANKS} ranks\b", text):
        sys.exit(f"the report does not say '{RANKS} ranks'")
    if f"transport {transport}" not in text:
        sys.exit(f"the report does not say 'transport {transport}'")


def run_launcher(command, bench):
    """A launcher of the system starts the ranks itself."""
    if not shutil.which(command[0]):
        skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, bench, *SIZES], env=clean_environment(), text=True, timeout=100,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    judge([done.returncode], done.stdout)


def run_ranks(variables, bench, transport="shm"):
    """Starts the ranks here; variables(rank) is what a launcher would set."""
    ranks = []
    for rank in range(RANKS):
        env = {**clean_environment(), **variables(rank)}
        ranks.append(subprocess.Popen([bench, *SIZES, "--transport", transport], env=env, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT))
    text = "".join(rank.communicate(timeout=100)[0] for rank in ranks)
    judge([rank.returncode for rank in ranks], text, transport)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def openmpi(bench):
    command = ["mpirun.openmpi", "-n", str(RANKS), "--oversubscribe"]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    run_launcher(command, bench)


def mpich(bench):
    run_launcher(["mpiexec.hydra", "-n", str(RANKS)], bench)


def torchrun(bench):
    # torchrun listens on MASTER_PORT itself; the library takes the next port.
    port = free_port()
    run_ranks(lambda rank: {
        "RANK": str(rank), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(RANKS),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(min(port, 65534))}, bench)


def slurm(bench):
    # A job number of its own, because the rendezvous of a step is named after it.
    job = str(os.getpid())
    run_ranks(lambda rank: {
        "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(RANKS), "SLURM_LOCALID": str(rank), "SLURM_NNODES": "1",
        "SLURM_STEP_NUM_NODES": "1", "SLURM_STEP_NODELIST": "localhost", "SLURM_JOB_ID": job,
        "SLURM_STEP_ID": "0"}, bench)


def own(rank, root):
    return {"SIRCL_RANK": str(rank), "SIRCL_SIZE": str(RANKS), "SIRCL_ROOT": root}


def root_file(bench):
    with tempfile.TemporaryDirectory() as directory:
        run_ranks(lambda rank: own(rank, f"file:{directory}/root"), bench)


def root_port(bench):
    root = f"127.0.0.1:{free_port()}"
    run_ranks(lambda rank: own(rank, root), bench)


def tcp(bench):
    root = f"localhost:{free_port()}"
    run_ranks(lambda rank: own(rank, root), bench, "tcp")


WAYS = {way.__name__: way for way in [openmpi, mpich, torchrun, slurm, root_file, root_port, tcp]}
WAYS[sys.argv[1]](sys.argv[2])
