"""The long description of the package: no link of it leads nowhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from package_page import COMMAND_GUIDES, package_readme, project_urls

from ragstone.surfaces.cli.app import COMMANDS
from ragstone.surfaces.cli.topics import list_topics

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = re.compile(r"\]\(([^)\s]+)\)")
REPOSITORY = "https://code.example.org/ragstone"


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def test_without_an_address_the_page_names_commands_instead_of_files() -> None:
    page = package_readme(README, "")
    assert all("://" in target for target in TARGETS.findall(without_code(page)))
    topics = re.findall(r"\(`ragstone help ([\w/-]+)`\)", page)
    assert {"searching", "quickstart", "reference/cli"} <= set(topics)
    assert {topic.removeprefix("guides/") for topic in topics} <= set(list_topics())
    assert not set(topics) & set(COMMANDS)


def test_with_an_address_every_link_of_the_page_is_absolute() -> None:
    page = package_readme(README, f"{REPOSITORY}/")
    targets = TARGETS.findall(without_code(page))
    assert len(targets) == len(TARGETS.findall(without_code(README)))
    assert all("://" in target for target in targets)
    assert f"![A session in a terminal]({REPOSITORY}/raw/HEAD/docs/terminal.svg)" in page
    assert f"({REPOSITORY}/blob/HEAD/docs/guides/searching.md)" in page


def test_code_blocks_stay_as_they_are() -> None:
    block = "```md\n[a](b.md)\n![c](d.png)\n```\n"
    assert package_readme(f"[x](docs/guides/web.md)\n{block}", "").endswith(block)


def test_the_links_of_the_package_need_an_address() -> None:
    assert project_urls("") == {}
    assert project_urls(REPOSITORY)["Homepage"] == REPOSITORY


def test_guides_with_the_name_of_a_command_are_known() -> None:
    assert COMMAND_GUIDES == set(list_topics()) & set(COMMANDS)


def test_the_package_is_built_with_this_page() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    assert (ROOT / hook["path"]).is_file()
    assert {"readme", "urls"} <= set(settings["project"]["dynamic"])
