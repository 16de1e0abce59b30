"""`docs/benchmarks.md`, written from the newest results: figures with the machine, date and commit they came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.provenance import ROOT

TARGET = ROOT / "docs" / "benchmarks.md"
NO_FIGURES = ("failed", "skipped", "note")
WAYS = ("words", "vectors", "rrf", "hybrid")
QUALITY = {
    "chunking": "Chunking: excerpts found, by characters, top 5 and in a budget of 4,000 characters (points of 100)",
    "codegraph": "Code that is understood: against the framework's own listings, and questions with known answers",
    "frameworks": "Questions about whole applications: share of the right answer, mean over questions",
    "code_search_more": "Code search, more repositories: NDCG@10, mean over repositories",
    "code_search": "Code search, the first twelve repositories: NDCG@10, mean over repositories",
    "mixed": "Folders with code and documents: the first right document, mean over folders",
    "small": "Folders of 1 to 20 documents: the right document among the first three",
    "nonsense": "Questions without an answer in small folders: share that finds nothing (silent)",
    "off_topic": "Questions of one folder asked of another: share called off topic rightly, mean over four groups",
    "pdf": "Long reports with tables: the right page among five hits, mean of one report and all reports",
    "languages": "German, French, Spanish and Chinese questions: the first right document, mean over eight groups",
    "locomo": "Memory (LoCoMo): share of evidence turns found (points of 100)",
    "scifact": "Documents (SciFact): NDCG@10",
}
SPEED = {
    "nearest": "Nearest neighbours",
    "search": "Search from text to cited hits, warm",
    "first_answer": "First answer in a folder never seen, whole processes",
    "embed": "Embedding",
    "sync": "Sync",
    "serve": "The server under load: 64 clients at a fixed rate, hybrid searches",
    "dashboard": "The dashboard with 100,000 chunks: milliseconds of the server for each page",
    "fresh": "Freshness: searches with and without the proof of every hit, and edits until they are cited",
    "read": "Reading 300 pages of every format in the process that reads",
    "secrets": "Secrets: found, wrongly flagged, and how fast",
    "growth": "Growth",
    "postgres": "PostgreSQL, SQLite, and SQL by hand: hybrid searches in one run",
    "install": "Install size",
}
PREFACE = """\
# Benchmarks

Written by `python -m bench table` from the JSON in `evals/results/` and `bench/results/`; do not edit by hand.
Absolute times depend on the machine: the ratio to a peer in the same run is what counts (peer divided by ours).
A row that says *skipped* or *failed* says why. How to measure again stands at each table.
"""


def write_table(root: Path = ROOT) -> str:
    """Return the path of the page, relative to the checkout, written now."""
    page = (
        "\n".join(lines(newest(root / "evals" / "results"), newest(root / "bench" / "results")))
        + "\n"
    )
    target = root / TARGET.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target.relative_to(root).as_posix()


def newest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return each measurement's latest result with the machine and versions of its file."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        for name, result in held.get("results", {}).items():
            if name not in found or result["measured_at"] > found[name]["measured_at"]:
                found[name] = {
                    **result,
                    "machine": held["machine"],
                    "versions": held["versions"],
                }
    return found


def lines(
    quality: Mapping[str, Mapping[str, Any]], speed: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the page's lines."""
    page = [PREFACE, "## Quality", ""]
    for name, result in ordered(quality, QUALITY):
        page += [
            f"### {titled(name, QUALITY)}",
            "",
            *quality_table(result),
            "",
            *origin(result, "evals", name),
            "",
        ]
    if not quality:
        page += ["Not measured yet.", ""]
    page += ["## Speed", ""]
    for name, result in ordered(speed, SPEED):
        page += [
            f"### {titled(name, SPEED)}",
            "",
            *speed_table(result),
            "",
            *origin(result, "bench", name),
            "",
        ]
    if not speed:
        page += ["Not measured yet."]
    return page


def ordered(
    found: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Return the results in the order of the titles, variants behind the plain one."""
    names = list(titles)
    return sorted(found.items(), key=lambda item: (names.index(plain(item[0])), item[0]))


def plain(name: str) -> str:
    """Return a measurement's name without its variant."""
    return name.partition("@")[0].partition("-")[0]


def titled(name: str, titles: Mapping[str, str]) -> str:
    """Return the heading of a measurement."""
    variant = name[len(plain(name)) :]
    if variant[1:].isdigit():
        cores = "core" if variant == "@1" else "cores"
        variant = (
            f"{variant[1:]} {cores}" if variant[0] == "@" else f"{int(variant[1:]):,} vectors"
        )
    return titles[plain(name)] + (f" ({variant.lstrip('@-')})" if variant else "")


def flag(name: str) -> str:
    """Return the option that a variant was measured with."""
    variant = name[len(plain(name)) :]
    if variant in ("@development", "@validation"):
        return f" --split {variant[1:]}"
    if not variant[1:].isdigit():
        return ""
    return f" --cores {variant[1:]}" if variant[0] == "@" else f" --n {variant[1:]}"


def quality_table(result: Mapping[str, Any]) -> list[str]:
    """Return words, vectors, rrf and hybrid as rows, and how sure the differences are."""
    if "apps" in result:
        return graph_table(result)
    if "by_application" in result:
        return application_table(result)
    metrics = list(result["hybrid"])
    rows = [
        [way, *(figure(result[way][metric]) for metric in metrics)]
        for way in WAYS
        if way in result
    ]
    told = [
        f"hybrid − {pair.partition('-')[2]}: "
        + ", ".join(
            f"{metric} {one['difference']:+.3f} ± {one['standard_error']:.3f}"
            for metric, one in found.items()
        )
        for pair, found in result.get("differences", {}).items()
    ]
    if "standard_error" in result:
        errors = [f"{way} {result['standard_error'][way]:.3f}" for way in WAYS]
        told.insert(0, f"standard error of {result['headline']}: {', '.join(errors)}")
    return [*table(["", *metrics], rows), "", *(f"- {line}" for line in told)]


def application_table(result: Mapping[str, Any]) -> list[str]:
    """Return the scores of questions by application and by kind."""
    rows = [
        [name, figure(score), f"{result['sync_seconds'][name]} s"]
        for name, score in result["by_application"].items()
    ]
    kinds = [f"{kind} {figure(score)}" for kind, score in result["by_kind"].items()]
    return [
        *table(["application", "score", "sync"], rows),
        "",
        f"- {result['questions']} questions, mean {figure(result['mean'])}",
        f"- by kind: {', '.join(kinds)}",
    ]


def graph_table(result: Mapping[str, Any]) -> list[str]:
    """Return what is understood of each app, and how questions about them are answered."""
    rows = [
        [
            name,
            f"{app['routes']['exact']} of {app['routes']['total']}" if "routes" in app else "–",
            *(
                figure(app.get("columns", {}).get(key))
                for key in ("f1", "judged_f1", "foreign_keys_f1")
            ),
            figure(app["graph_seconds"]),
        ]
        for name, app in result["apps"].items()
    ]
    head = [
        "",
        "routes exact",
        "columns F1",
        "without unrun migrations",
        "foreign keys F1",
        "graphed in s, one core",
    ]
    asked, again = result["questions"], result["paraphrases"]
    told = [f"{kind} {figure(value)}" for kind, value in asked["by_kind"].items()]
    lines = [
        f"{asked['count']} questions: mean {figure(asked['mean'])} ({', '.join(told)}); "
        f"evidence recall@12 {figure(asked['evidence_recall_at_12'])}",
        f"{again['count']} paraphrases without a name: evidence recall@12 {figure(again['evidence_recall_at_12'])}",
        *(
            f"inflections, {name}: {one['right']} of {one['total']}"
            for name, one in result.get("inflections", {}).items()
        ),
    ]
    return [*table(head, rows), "", *(f"- {line}" for line in lines)]


def speed_table(result: Mapping[str, Any]) -> list[str]:
    """Return one row for each library, or for each size, and the ratios below."""
    subjects = {
        name: found
        for name, found in result.items()
        if isinstance(found, dict)
        and not name.startswith("ratios")
        and name not in ("data", "machine", "versions")
    }
    ours = subjects.get("ours", {})
    subjects = {"ours": ours, **subjects}
    if ours and all(isinstance(found, dict) for found in ours.values()):
        subjects = dict(ours)
    keys = list(
        dict.fromkeys(
            key for found in subjects.values() for key in found if key not in NO_FIGURES
        )
    )
    rows = [
        [name, *(figure(found.get(key)) for key in keys)]
        for name, found in subjects.items()
        if keys_of(found)
    ]
    page = table(["", *keys], rows)
    page += [
        f"\n- {name}: {reason(found)}" for name, found in subjects.items() if not keys_of(found)
    ]
    page += [
        f"\n- {name}: {found['note']}" for name, found in subjects.items() if "note" in found
    ]
    for name in ("ratios", "ratios_numpy"):
        held = {peer: found for peer, found in result.get(name, {}).items() if found}
        if held:
            columns = list(dict.fromkeys(key for found in held.values() for key in found))
            told = "Peer divided by ours" + (
                " without the accelerator" if name == "ratios_numpy" else ""
            )
            rows = [
                [peer, *(figure(found.get(key)) for key in columns)]
                for peer, found in held.items()
            ]
            page += ["", f"{told}:", "", *table(["", *columns], rows)]
    return page


def keys_of(found: Mapping[str, Any]) -> bool:
    """Return whether a library has any figure."""
    return any(key not in NO_FIGURES for key in found)


def reason(found: Mapping[str, Any]) -> str:
    """Return why a library has no figures."""
    return (
        "skipped, " + str(found["skipped"])
        if "skipped" in found
        else "failed, " + str(found.get("failed", ""))
    )


def origin(result: Mapping[str, Any], package: str, name: str) -> list[str]:
    """Return the line that says where the figures came from and how to get them again."""
    machine = result["machine"]
    load = f", load {result['load']}" if result.get("load") is not None else ""
    versions = ", ".join(
        f"{package} {number}" for package, number in sorted(result["versions"].items())
    )
    return [
        f"`python -m {package} {plain(name)}{flag(name)}` · {result['measured_at'][:10]} · "
        f"commit {result['at_commit']} · {machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}{load} · {versions}"
    ]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table."""
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def figure(value: object) -> str:
    """Return a value as a reader wants it: four digits that count, parts of a whole by name."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {figure(part)}" for name, part in value.items())
    return (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    )
