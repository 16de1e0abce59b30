"""Programs as on several machines: each has its own folder, loopback address and way to the database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

from tests.support.postgres_server import PostgresServer
from tests.support.tcp_proxy import TcpProxy
from tests.support.waiting import wait_until


class Machine:
    """One program of Ragstone that reaches the database through a proxy of its own."""

    def __init__(
        self, server: PostgresServer, database: str, address: str, folder: Path
    ) -> None:
        """Prepare a machine; `start` starts its program."""
        self.address = address
        self.folder = folder
        folder.mkdir(parents=True)
        self.network = TcpProxy(address, ("127.0.0.1", server.port))
        host, port = self.network.address
        url = server.url(database).replace(f"127.0.0.1:{server.port}", f"{host}:{port}")
        self._environment = {
            **os.environ,
            "RAGSTONE_STORE_URL": url,
            "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake",
            "RAGSTONE_SERVER_JOBS": "0",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._arguments: tuple[str, ...] = ()

    @property
    def output(self) -> list[dict[str, object]]:
        """Return the lines of JSON that the program printed."""
        lines = (self.folder / "out").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    @property
    def errors(self) -> str:
        """Return the text that the program printed as errors and notes."""
        return (self.folder / "err").read_text()

    @property
    def pid(self) -> int:
        """Return the number of the running process."""
        assert self._process is not None
        return self._process.pid

    def start(self, *arguments: str) -> None:
        """Start `ragstone` with these arguments, and wait until it is ready."""
        self._arguments = arguments
        with open(self.folder / "out", "ab") as out, open(self.folder / "err", "ab") as err:
            ready = len(self.output) + 1
            self._process = self._spawn(out, err)
        assert wait_until(lambda: len(self.output) >= ready, 60), self.errors

    def restart(self) -> None:
        """Start the program again with the same arguments."""
        self.start(*self._arguments)

    def kill(self) -> None:
        """Kill the program, as a crash does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Stop the program gracefully and return its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)

    def close(self) -> None:
        """Kill the program if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.network.close()

    def _spawn(self, out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ragstone", *self._arguments, "--json"]
        return subprocess.Popen(
            [*command, "-C", str(self.folder)], stdout=out, stderr=err, env=self._environment
        )
