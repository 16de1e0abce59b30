"""Numbers in the documents are the numbers of the code and of the measurements."""

from __future__ import annotations

import re

import generate_reference
import readme_figures
import record_demo

from ragstone import registry
from ragstone.chunk.sizes import resolve_sizes
from ragstone.config.settings import setting_keys
from ragstone.engine.arguments import MAX_TOP_K
from ragstone.retrieval.ranking import parameters
from ragstone.surfaces.cli.app import COMMANDS
from ragstone.surfaces.tools.tool import MAX_TEXT_TOKENS

SETTING_NUMBER = re.compile(
    r"`(?P<key>[a-z_]+\.[a-z_.]+)`(?: \(| \| )(?P<number>\d[\d,]*)(?P<unit> MB)?(?:\)| \|)"
)
CHUNKER_ROW = re.compile(
    r"^\| `(?P<name>\w+)` \|.* \| (?P<numbers>\d+(?: / \d+)?) \|$", re.MULTILINE
)


def test_guides_have_marked_numbers_and_they_are_those_of_the_code() -> None:
    marked = 0
    for guide in sorted(generate_reference.GUIDES.glob("*.md")):
        text = guide.read_text(encoding="utf-8")
        marked += len(generate_reference.NUMBER.findall(text))
        assert generate_reference.with_numbers_of_the_code(text) == text, (
            f"{guide.name}: run `make reference`"
        )
    assert marked >= 4


def test_a_wrong_number_before_a_mark_is_replaced() -> None:
    mark = "<!-- ragstone.engine.arguments:MAX_TOP_K -->"
    text = generate_reference.with_numbers_of_the_code(f"at most 7,777{mark}; 3 of 4")
    assert text == f"at most {MAX_TOP_K:,}{mark}; 3 of 4"
    mark = "<!-- ragstone.surfaces.tools.tool:MAX_TEXT_TOKENS -->"
    assert (
        generate_reference.with_numbers_of_the_code(f"1{mark}") == f"{MAX_TEXT_TOKENS:,}{mark}"
    )


def test_the_page_of_ranking_has_every_number_with_its_value() -> None:
    page = generate_reference.ranking_page()
    rows = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", page, re.MULTILINE))
    fields = parameters.RankingParameters.__dataclass_fields__
    assert set(fields) <= set(rows)
    for name in fields:
        value = getattr(parameters.RANKING_PARAMETERS, name)
        if not isinstance(value, dict):
            assert rows[name] == str(value)


def numbers_of_ranking() -> set[str]:
    """Return the weights, factors and limits of ranking as a page writes them."""
    fields = parameters.RankingParameters.__dataclass_fields__
    values = [*vars(parameters).values()]
    for name in fields:
        value = getattr(parameters.RANKING_PARAMETERS, name)
        values += value.values() if isinstance(value, dict) else [value]
    is_shown = [
        isinstance(value, float) or (type(value) is int and value > 500) for value in values
    ]
    return {f"{value:,}" for value, shown in zip(values, is_shown, strict=True) if shown}


def test_the_guide_to_searching_repeats_no_number_of_ranking() -> None:
    guide = (generate_reference.GUIDES / "searching.md").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", guide, flags=re.DOTALL)
    unmarked = generate_reference.NUMBER.sub("", prose)
    numbers = {number.rstrip(".,") for number in re.findall(r"(?<![\w.])\d[\d.,]*", unmarked)}
    assert {"0.55", "1,000", "2,000"} <= numbers_of_ranking()
    assert not numbers & numbers_of_ranking()


def test_the_figures_of_the_readme_are_the_newest_results() -> None:
    shown = record_demo.FIGURES.search(record_demo.README.read_text(encoding="utf-8"))
    assert shown is not None
    assert shown.group() == readme_figures.quality_table(), "run `make readme`"


def test_nothing_that_exists_is_called_planned() -> None:
    page = (generate_reference.ROOT / "docs" / "from-the-designs.md").read_text(
        encoding="utf-8"
    )
    tables = re.findall(
        r"^\|[^\n]*\| planned \|\n.*?(?=\n\n|\Z)", page, re.MULTILINE | re.DOTALL
    )
    rows = [row for table in tables for row in table.splitlines()[2:]]
    parts = {name for part in registry.BUILT_IN for name in (part.name, *part.aliases)}
    for row in rows:
        names = set(re.findall(r"`([\w-]+)`", row.split("|")[-2]))
        existing = set(COMMANDS) if "reference/cli.md" in row else parts
        assert not names & existing, row
    assert len(rows) >= 4  # nothing may be planned, but the tables are there


def test_a_number_behind_the_name_of_a_setting_is_its_default() -> None:
    checked = 0
    for guide in sorted(generate_reference.GUIDES.glob("*.md")):
        for match in SETTING_NUMBER.finditer(guide.read_text(encoding="utf-8")):
            if match["key"] not in setting_keys():
                continue
            default = setting_keys()[match["key"]].default
            number = int(match["number"].replace(",", ""))
            if match["unit"] and not match["key"].endswith("_mb"):
                number *= 1_000_000
            assert number == default, f"{guide.name}: {match.group()}"
            checked += 1
    assert checked >= 5


def test_the_sizes_of_chunkers_in_the_guide_are_those_of_the_code() -> None:
    guide = (generate_reference.GUIDES / "indexing.md").read_text(encoding="utf-8")
    rows = {
        match["name"]: [int(number) for number in match["numbers"].split(" / ")]
        for match in CHUNKER_ROW.finditer(guide)
    }
    for name in ("markdown", "prose", "tokens", "sentences", "chars", "code", "lines"):
        size, overlap = resolve_sizes(name, None, None)
        assert rows[name][0] == size, name
        assert rows[name][1:] in ([], [overlap]), name


def benchmark_rows(title: str) -> dict[str, dict[str, str]]:
    """Return the first table under a title of the benchmarks: name of the row → column → cell."""
    page = (generate_reference.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = page.partition(f"### {title}\n\n")[2].partition("\n\n")[0]
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    ]
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def test_the_speed_and_size_in_the_readme_are_those_of_the_benchmarks() -> None:
    readme = record_demo.README.read_text(encoding="utf-8")
    first = benchmark_rows("First answer in a folder never seen, whole processes")["ours"]
    assert f"answered by words after {float(first['first_words_s']):.1f} s" in readme
    assert f"{float(first['chunks_per_s']):.0f} passages a second" in readme
    size = float(benchmark_rows("Install size")["ours"]["megabytes"])
    assert f"takes {size:.0f} MB" in readme
    rows = benchmark_rows("Search from text to cited hits, warm")
    peers = ("ours", "chroma+rank_bm25", "lancedb", "txtai")
    times = " | ".join(f"{float(rows[peer]['hybrid_p50_ms']):.1f}" for peer in peers)
    assert f"in ms | {times} |" in readme
