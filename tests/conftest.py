"""What every test stands on: a printed seed, and settings that do not depend on who runs the tests."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ragstone import Engine
from tests.support.postgres_server import (
    PostgresServer,
    close_shared_server,
    empty_database,
    shared_server,
)

settings.register_profile(
    "ragstone",
    max_examples=50,
    deadline=None,  # machines are shared: speed is measured in bench/, not here
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ragstone")

# A shell starts what runs behind it with Ctrl-C ignored, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the run's seed unless it was given; xdist hands the options on to its workers."""
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.option.hypothesis_seed} (again: pytest --hypothesis-seed={config.option.hypothesis_seed})"


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """Return the run's seed, for tests that draw their own random numbers."""
    return int(pytestconfig.option.hypothesis_seed)


@pytest.fixture(scope="session", autouse=True)
def nobodys_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the settings of whoever runs the tests, in this process and in those it starts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("RAGSTONE_")]:
            patch.delenv(name)
        nobody = str(tmp_path_factory.mktemp("nobody"))
        patch.setenv("XDG_CONFIG_HOME", nobody)
        patch.setenv("APPDATA", nobody)
        patch.setenv("RAGSTONE_EMBED_BACKGROUND", "off")  # a process would outlive its test
        yield


@pytest.fixture(scope="session", autouse=True)
def stop_postgres() -> Iterator[None]:
    """Stop the PostgreSQL server after the last test, if a test has started it."""
    yield
    close_shared_server()


@pytest.fixture
def postgres_server() -> PostgresServer:
    """Return the PostgreSQL server of the whole run; skip the test if none can be started here."""
    return shared_server()


@pytest.fixture
def database_url() -> Iterator[str]:
    """Give the address of a PostgreSQL database with empty tables."""
    with empty_database() as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a small project: a page on locks and a module with two functions."""
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "locks.md").write_text(
        "# Locks\n\n## Writers\n\nOne writer holds the lease at a time.\n\n## Readers\n\nReaders never wait.\n",
        encoding="utf-8",
    )
    (root / "lease.py").write_text(
        'def acquire_lease(name):\n    """Take the lease or wait."""\n    return name\n\n\n'
        "def release_lease(name):\n    return None\n",
        encoding="utf-8",
    )
    return root


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    """Give an engine on that project, with the fake embedder."""
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as opened:
        yield opened
