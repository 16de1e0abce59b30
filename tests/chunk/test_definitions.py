"""Code is cut by its definitions, or by lines if there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.chunk.definitions import DefinitionChunker
from ragstone.chunk.lines import UNPARSED_KIND
from ragstone.code.symbols import read_facts
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import prepare_document
from ragstone.protocols import Chunker
from ragstone.text.tokens import estimate
from ragstone.types import Chunk, Document, Symbol

Check = Callable[[Chunker, str], list[Chunk]]

STATEMENT = "        $this->total += $this->price($item, $index) * $this->tax->rate($item->country());\n"
CLASS = (
    "<?php\n\nnamespace App;\n\n/** What is bought. */\nclass Cart extends Model\n{\n    private array $items = [];\n\n"
    + "".join(
        f"    /** Does {name}. */\n    public function {name}(int $index): int\n    {{\n{STATEMENT * 3}    }}\n\n"
        for name in ("add", "remove", "clear", "count")
    )
    + f"    public function long(): void\n    {{\n{STATEMENT * 40}    }}\n}}\n"
)


class Fixed:
    """A chunker for any text, told the same symbols each time."""

    def __init__(self, chunker: Chunker, symbols: tuple[Symbol, ...]) -> None:
        self.recipe = chunker.recipe
        self._chunker, self._symbols = chunker, symbols

    def chunk(self, document: Document) -> list[Chunk]:
        return self._chunker.chunk(replace(document, symbols=self._symbols))


def cut(
    text: str, uri: str = "app/Cart.php", language: str = "php", **sizes: int
) -> list[Chunk]:
    ready, _ = prepare_document(
        Document(uri, text, kind="code", language=language),
        ChunkingConfig(size=sizes.get("size")),
    )
    assert ready.document.remarks == ()
    return list(ready.chunks)


def test_a_big_class_gives_a_header_and_methods_with_the_class_as_header() -> None:
    chunks = cut(CLASS)
    header = next(chunk for chunk in chunks if "class Cart" in chunk.text)
    assert "What is bought" in header.text
    assert "$items" in header.text
    assert header.symbol.split()[0] == "Cart"
    method = next(chunk for chunk in chunks if "function remove" in chunk.text)
    assert "Does remove" in method.text
    assert method.header == "class Cart extends Model"
    assert "Cart.remove" in method.symbol.split()
    assert all(chunk.kind == "code" for chunk in chunks)


LONG_METHOD = "        total += price_of_item(item, index) * tax_rate_of(item, country);\n" * 14
CLASSES = {
    "Cart.swift": ("class Cart {\n", "    func {name}() {{\n", "    }\n", "}\n"),
    "cart.rb": ("module Shop\n  class Cart\n", "    def {name}\n", "    end\n", "  end\nend\n"),
    "cart.cpp": (
        "namespace shop {\nclass Cart {\n",
        "    void {name}() {{\n",
        "    }\n",
        "};\n}\n",
    ),
    "cart.pas": (
        "type Cart = class\nbegin\n",
        "procedure {name};\nbegin\n",
        "end;\n",
        "end.\n",
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_no_chunk_of_code_is_only_closing_braces_or_end(name: str) -> None:
    opening, method, end_of_method, end = CLASSES[name]
    methods = [
        method.format(name=f"step_{number}") + LONG_METHOD + end_of_method
        for number in range(4)
    ]
    text = opening + "\n".join(methods) + end
    language = {"swift": "swift", "rb": "ruby", "cpp": "cpp", "pas": "pascal"}[
        name.split(".")[1]
    ]
    chunks = cut(text, name, language)
    assert len(chunks) > 3
    assert all("price_of_item" in chunk.text or "Cart" in chunk.text for chunk in chunks)
    assert chunks[-1].text.endswith(end.rstrip())


def test_a_long_function_is_parted_between_its_lines_and_each_part_says_its_signature() -> None:
    parts = [chunk for chunk in cut(CLASS) if "Cart.long" in chunk.symbol.split()]
    assert len(parts) > 2
    assert all(part.header.endswith("> public function long(): void") for part in parts[1:])
    assert all(estimate(part.text) <= 300 for part in parts)


def test_small_definitions_share_a_chunk() -> None:
    text = "package a\n\n" + "".join(
        f"func f{n}() int {{\n\treturn {n}\n}}\n\n" for n in range(6)
    )
    (chunk,) = cut(text, "a.go", "go")
    assert chunk.symbol.split() == [f"f{n}" for n in range(6)]


def test_a_method_outside_its_type_has_the_type_as_header() -> None:
    body = "".join(f"\tcount{n} := s.measure({n}, s.scale, s.offset)\n" for n in range(12))
    text = "package a\n\n" + "".join(
        f"func (s *Store) F{n}() {{\n{body}}}\n\n" for n in range(3)
    )
    assert {chunk.header for chunk in cut(text, "a.go", "go")} >= {"Store"}


def test_chunks_do_not_overlap_and_keep_the_size(keeps_its_promises: Check) -> None:
    facts = read_facts(CLASS, "a.php")
    assert facts is not None
    for size in (20, 60, 150, 300, 1200):
        chunks = keeps_its_promises(Fixed(DefinitionChunker(size=size), facts.symbols), CLASS)
        assert all(
            before.span.end <= after.span.start
            for before, after in zip(chunks, chunks[1:], strict=False)
        )
        assert max(estimate(chunk.text) for chunk in chunks) <= size + 2


def test_a_file_that_cannot_be_parsed_is_cut_by_lines_with_a_remark() -> None:
    text = "%%% ((( nothing of ::: this\n" * 30
    ready, _ = prepare_document(
        Document("a.rs", text, kind="code", language="rust"), ChunkingConfig()
    )
    assert ready.chunks
    assert {chunk.kind for chunk in ready.chunks} == {UNPARSED_KIND}
    assert "could be parsed" in ready.document.remarks[0]


def test_a_file_that_is_too_long_is_cut_by_lines_with_a_remark() -> None:
    ready, _ = prepare_document(
        Document("a.js", "a=1;" * 300_000, kind="code", language="javascript"), ChunkingConfig()
    )
    assert ready.chunks
    assert "too long" in ready.document.remarks[0]


def test_a_file_without_definitions_has_no_remark() -> None:
    ready, _ = prepare_document(
        Document("a.rb", "puts 1\nputs 2\n", kind="code", language="ruby"), ChunkingConfig()
    )
    assert [chunk.kind for chunk in ready.chunks] == ["code"]
    assert ready.document.remarks == ()


SYMBOLS = st.lists(
    st.tuples(
        st.integers(-3, 130),
        st.integers(-3, 130),
        st.sampled_from(["class", "method", "function", "field", "module"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize("size", [5, 30, 300])
@settings(max_examples=80, deadline=None)
@given(places=SYMBOLS, text=st.text(st.sampled_from("ab {}();\n\n \t\r\x0c字"), max_size=120))
def test_any_symbols_leave_all_text_covered(
    keeps_its_promises: Check, size: int, places: list[tuple[int, int, str]], text: str
) -> None:
    symbols = tuple(
        Symbol(f"n{at}", f"p.n{at}", kind, start, end, 1, 1, parent="p")
        for at, (start, end, kind) in enumerate(places)
    )
    keeps_its_promises(Fixed(DefinitionChunker(size=size), symbols), text)


def test_deeply_nested_definitions_are_cut(keeps_its_promises: Check) -> None:
    depth = 3_000
    text = "class A {\n" * depth + "}\n" * depth
    symbols = tuple(
        Symbol("A", "A", "class", n * 10, len(text) - n * 2, n + 1, n + 1) for n in range(depth)
    )
    assert len(keeps_its_promises(Fixed(DefinitionChunker(size=50), symbols), text)) > 10
