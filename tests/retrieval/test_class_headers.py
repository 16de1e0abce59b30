"""The chunk with the opening lines of a class carries the namespace and the signatures of its methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine, Hit

BODY = "\n".join(f"        total = total + self.weigh({number})" for number in range(60))
PYTHON = f'''class Harbour:
    """Where the ferries are moored."""

    def open_gate(self, hour: int) -> bool:
        total = 0
{BODY}
        return total > hour

    def close_gate(self) -> None:
        total = 0
{BODY}
'''
LINES = "\n".join(f"            total += weigh({number});" for number in range(60))
PHP = f"""<?php
namespace Port\\Gates;

/** Where the barges are moored. */
final class BargeHarbour
{{
    public function openLock(int $hour): bool
    {{
{LINES}
        return $total > $hour;
    }}

    public function closeLock(): void
    {{
{LINES}
    }}
}}
"""

STATEMENTS = "\n".join(
    f"        total = weighTheCargo({number}) + total;" for number in range(80)
)
OTHERS = {
    "harbour.cpp": (
        f"""namespace port::gates {{
/** Where the barges are moored. */
class Harbour {{
    int openLock(int hour) {{
{STATEMENTS}
    }}
    int closeLock(int hour) {{
{STATEMENTS}
    }}
}};
}}
""",
        "port::gates",
        ("int openLock(int hour)", "int closeLock(int hour)"),
    ),
    "harbour.rb": (
        f"""module Port
  module Gates
    # Where the barges are moored.
    class Harbour
      def open_lock(hour)
{STATEMENTS}
      end

      def close_lock(hour)
{STATEMENTS}
      end
    end
  end
end
""",
        "Port::Gates",
        ("def open_lock(hour)", "def close_lock(hour)"),
    ),
    "harbour.ts": (
        f"""namespace Gates {{
  /** Where the barges are moored. */
  export class Harbour {{
    openLock(hour: number): number {{
{STATEMENTS}
    }}
    closeLock(hour: number): number {{
{STATEMENTS}
    }}
  }}
}}
""",
        "Gates",
        ("openLock(hour: number): number", "closeLock(hour: number): number"),
    ),
    "harbour.go": (
        f"""package gates

// Harbour is where the barges are moored.
type Harbour struct {{
    depth int
}}

func (h *Harbour) OpenLock(hour int) int {{
{STATEMENTS}
}}

func (h *Harbour) CloseLock(hour int) int {{
{STATEMENTS}
}}
""",
        None,
        (
            "func (h *Harbour) OpenLock(hour int) int",
            "func (h *Harbour) CloseLock(hour int) int",
        ),
    ),
    "harbour.rs": (
        f"""mod gates {{
/// Where the barges are moored.
pub struct Harbour {{
    depth: i32,
}}

impl Harbour {{
    pub fn open_lock(&self, hour: i32) -> i32 {{
{STATEMENTS}
    }}

    pub fn close_lock(&self, hour: i32) -> i32 {{
{STATEMENTS}
    }}
}}
}}
""",
        "gates",
        (
            "pub fn open_lock(&self, hour: i32) -> i32",
            "pub fn close_lock(&self, hour: i32) -> i32",
        ),
    ),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("port")
    (folder / "port").mkdir()
    (folder / "port/harbour.py").write_text(PYTHON, encoding="utf-8")
    (folder / "port/BargeHarbour.php").write_text(PHP, encoding="utf-8")
    (folder / "small.py").write_text(
        "class Buoy:\n    def float(self): ...\n", encoding="utf-8"
    )
    for name, (text, _, _) in OTHERS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Engine.open(
        folder, config={"rag.embedding_provider": "fake", "search.watch": "off"}
    ) as opened:
        opened.sync()
        yield opened


def header_of(engine: Engine, path: str) -> Hit:
    hits = engine.search(
        "moored harbour gate lock", mode="words", merge=False, filters={"path": path}
    )
    (header,) = [hit for hit in hits if hit.metadata.get("signatures")]
    return header


def test_the_header_of_a_class_has_its_namespace_and_the_signatures_of_its_methods(
    engine: Engine,
) -> None:
    header = header_of(engine, "port/harbour.py")
    assert header.metadata["namespace"] == "port.harbour"
    signatures = header.metadata["signatures"]
    assert isinstance(signatures, tuple)
    assert [str(signature).partition("(")[0] for signature in signatures] == [
        "def open_gate",
        "def close_gate",
    ]


def test_it_is_an_exact_slice_with_the_comment_of_the_class(engine: Engine) -> None:
    header = header_of(engine, "port/BargeHarbour.php")
    assert header.text == PHP[header.span.start : header.span.end]
    assert "Where the barges are moored." in header.text
    assert header.metadata["namespace"] == "Port\\Gates"
    assert "openLock(int $hour): bool" in str(header.metadata["signatures"])


def test_methods_and_classes_in_one_chunk_have_no_list_of_signatures(engine: Engine) -> None:
    (buoy,) = engine.search("Buoy float", mode="words", filters={"path": "small.py"})
    assert "signatures" not in buoy.metadata
    methods = engine.search("close_gate", mode="words", merge=False)
    assert "signatures" not in methods[0].metadata


@pytest.mark.parametrize("path", sorted(OTHERS))
def test_every_language_gives_the_namespace_around_and_the_methods_outside_of_a_type(
    engine: Engine, path: str
) -> None:
    _, namespace, signatures = OTHERS[path]
    header = header_of(engine, path)
    assert header.metadata.get("namespace") == namespace
    assert header.metadata["signatures"] == signatures


@pytest.mark.parametrize("path", ["port/harbour.py", "port/BargeHarbour.php", *sorted(OTHERS)])
def test_the_header_of_a_class_shares_its_chunk_with_no_part_of_a_long_method(
    engine: Engine, path: str
) -> None:
    header = header_of(engine, path)
    assert "Harbour" in header.text
    assert "weigh" not in header.text
