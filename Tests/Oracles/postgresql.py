"""A server of PostgreSQL of our own, on loopback and a unix socket, ended by its id."""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import peers

#: Debian's place, the newest first.
BINARIES = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: -int(path.split("/")[4]))


class Database:
    """A cluster whose user `pharos` has the password `secret` over TCP, and needs none by the socket."""

    def __init__(self, start):
        assert BINARIES, "PostgreSQL is not installed: apt-get install postgresql"
        self.start_process, self.port = start, peers.free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        # The server refuses to run as root.
        self.user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        password = self.folder / "password"
        password.write_text("secret\n")
        password.chmod(0o644)
        self._run("initdb", "-D", self.folder / "data", "-U", "pharos", "-N", "--auth-local=trust", "-E", "UTF8",
                  "--auth-host=scram-sha-256", f"--pwfile={password}", "--locale=C.UTF-8")
        self.start()
        self.ask("CREATE DATABASE museum", "postgres")

    def _as_user(self):
        return {"user": self.user} if os.geteuid() == 0 else {}

    def _run(self, program, *words):
        subprocess.run([f"{BINARIES[0]}/{program}", *map(str, words)], check=True, capture_output=True, cwd="/",
                       **self._as_user())

    def start(self):
        self.peer = self.start_process(
            f"{BINARIES[0]}/postgres", "-D", self.folder / "data", "-k", self.folder, "-p", self.port,
            "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", cwd="/", **self._as_user())
        deadline = time.monotonic() + 20
        while True:
            try:
                return self.ask("SELECT 1", "postgres")
            except subprocess.CalledProcessError:
                assert time.monotonic() < deadline, self.peer.errors
                time.sleep(0.1)

    def stop(self):
        self.peer.interrupt()

    def end(self):
        self.peer.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, statement, database="museum") -> list[list[str]]:
        done = subprocess.run(["psql", "-X", "-A", "-t", "-F", "\t", "-h", self.folder, "-p", str(self.port), "-U",
                               "pharos", "-d", database, "-c", statement], check=True, capture_output=True, text=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    @property
    def by_socket(self) -> str:
        return f"host={self.folder} port={self.port} dbname=museum user=pharos"

    @property
    def by_network(self) -> str:
        return f"postgresql://pharos@127.0.0.1:{self.port}/museum?sslmode=disable"
