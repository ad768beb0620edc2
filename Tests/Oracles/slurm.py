"""A Slurm cluster of this one machine: Debian's daemons on loopback, in a directory of their own, while needed."""
import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo"]

CONFIGURATION = """
ClusterName=loopback
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
CredType=cred/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """What of Slurm is not on this machine."""
    return [name for name in PROGRAMS if not shutil.which(name)]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _until(condition, what: str, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


class Cluster:
    """Where jobs are handed in."""

    def __init__(self, home: Path):
        self.home = home
        self.environment = os.environ | {"SLURM_CONF": str(home / "slurm.conf")}

    def run(self, *command) -> str:
        done = subprocess.run(
            [str(each) for each in command], env=self.environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


@contextlib.contextmanager
def cluster(home: Path, processors: int = 2):
    """Starts the daemons, and ends them by their own ids."""
    home.mkdir(mode=0o700)
    for name in ("state", "spool"):
        (home / name).mkdir(mode=0o755)
    (home / "munge.key").write_bytes(os.urandom(128))
    (home / "munge.key").chmod(0o400)
    control, node = _free_ports(2)
    (home / "slurm.conf").write_text(CONFIGURATION.format(
        home=home, control_port=control, node_port=node, processors=processors))
    here = Cluster(home)
    daemons: list[subprocess.Popen] = []

    def start(*command):
        daemons.append(subprocess.Popen(
            [str(each) for each in command], env=here.environment, stdin=subprocess.DEVNULL,
            stdout=(home / f"{command[0]}.out").open("w"), stderr=subprocess.STDOUT))

    try:
        start("munged", "--foreground", "--force", "--num-threads=1", f"--key-file={home}/munge.key",
              f"--socket={home}/munge.socket", f"--pid-file={home}/munge.pid", f"--log-file={home}/munge.log",
              f"--seed-file={home}/munge.seed")
        _until((home / "munge.socket").exists, "munged opens no socket")
        start("slurmctld", "-D", "-i", "-f", home / "slurm.conf")
        start("slurmd", "-D", "-N", "localhost", "-f", home / "slurm.conf")

        def is_idle():
            asked = subprocess.run(["sinfo", "-h", "-o", "%T"], env=here.environment, capture_output=True, text=True)
            return asked.returncode == 0 and asked.stdout.strip() == "idle"

        _until(is_idle, "the node does not come up")
        yield here
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
