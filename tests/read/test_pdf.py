"""PDF: the text of every page in reading order, its number and label, and a reason if there is no text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.chunk.chunkers import chunker_for
from ragstone.chunk.sizes import NAMES
from ragstone.errors import ReadError
from ragstone.read.choose_reader import is_binary, reader_for
from ragstone.read.file_formats import explain_refusal
from ragstone.types import Document
from tests.read.pdf_files import FONT, Pdf, Placed, content, lines, pdf
from tests.support.formats import get_format

read = get_format("pdf").load()
PROSE = (
    "The lease is taken before the",
    "first write, and it is given back",
    "when the last reader has left the",
    "building for good.",
)


def text_of(*placed: Placed) -> str:
    return read(pdf([list(placed)]), "a.pdf").text


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────


def test_every_page_is_marked_with_its_number_and_its_label() -> None:
    labels = "0<</S/r>>2<</S/D>>4<</P(A-)/S/D>>"
    document = read(
        pdf([lines(f"Words of page {number}.") for number in range(1, 6)], labels=labels),
        "a.pdf",
    )
    assert [(mark.number, mark.label, mark.unit) for mark in document.marks] == [
        (1, "i", ""),
        (2, "ii", ""),
        (3, "1", ""),
        (4, "2", ""),
        (5, "A-1", ""),
    ]
    for mark in document.marks:
        assert document.text[mark.start :].startswith(f"Words of page {mark.number}.")


def test_labels_that_only_repeat_the_number_are_left_out() -> None:
    document = read(pdf([lines("One."), lines("Two.")], labels="0<</S/D>>"), "a.pdf")
    assert [mark.label for mark in document.marks] == ["", ""]


def test_the_properties_of_a_document_become_metadata() -> None:
    info = "/Title(On Leases)/Author(A. Person)/CreationDate(D:20240103120000Z)/Keywords(lease, lock)"
    document = read(pdf([lines("Text.")], info=info), "a.pdf")
    assert (document.title, document.kind, document.language) == ("On Leases", "doc", "pdf")
    assert document.metadata == {
        "pages": 1,
        "author": "A. Person",
        "keywords": "lease, lock",
        "date": "2024-01-03",
    }
    assert (
        read(pdf([lines("Text.")], info="/Title(Microsoft Word - x.doc)"), "docs/b.pdf").title
        == "b.pdf"
    )


def test_a_document_without_a_title_has_its_first_big_line_for_one() -> None:
    big = content([(72, 740, "A Report on Leases")], size=24)
    document = read(pdf([big + b"\n" + content(lines(*PROSE))]), "a.pdf")
    assert document.title == "A Report on Leases"


# ── lines ─────────────────────────────────────────────────────────────────────────────────────────


def test_wrapped_lines_are_joined_to_paragraphs() -> None:
    assert text_of(*lines(*PROSE)) == " ".join(PROSE)
    both = [*lines(*PROSE), *lines(*PROSE, top=640)]
    assert text_of(*both) == f"{' '.join(PROSE)}\n\n{' '.join(PROSE)}"


def test_the_short_last_line_of_a_paragraph_ends_it() -> None:
    assert text_of(*lines(*PROSE, *PROSE)) == f"{' '.join(PROSE)}\n\n{' '.join(PROSE)}"


def test_items_and_rows_keep_their_lines() -> None:
    items = (
        "- a first item that is rather long",
        "- a second item, as long as the first",
        "3. a third one here",
    )
    assert text_of(*lines(*items)) == "\n".join(items)
    rows = ("Leases . . . . . . . . . . . . . 12", "Locks  . . . . . . . . . . . . . 14")
    assert text_of(*lines(*rows)).splitlines()[0].startswith("Leases") and "\n" in text_of(
        *lines(*rows)
    )


def test_words_broken_at_the_end_of_a_line_are_made_whole() -> None:
    broken = (
        "The reader waits for the consec-",
        "utive writers of the two-",
        "column page and of X-",
        "Rays.",
    )
    assert (
        text_of(*lines(*broken))
        == "The reader waits for the consecutive writers of the twocolumn page and of X-Rays."
    )
    known = lines(*broken, "", "A two-column page.")
    assert "of the two-column page and of X-Rays" in text_of(*known)


def test_ligatures_become_letters() -> None:
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add("<</Type/Pages/Count 1/Kids[3 0 R]>>")
    made.add(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    )
    made.stream(content(lines("A B of C")))
    made.add(f"{FONT[:-2]}/ToUnicode 6 0 R>>")
    made.stream(
        b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange"
        b" 3 beginbfchar <41> <FB03> <42> <D835DC65> <43> <0004> endbfchar endcmap"
    )
    assert read(made.bytes(1), "a.pdf").text.strip() == "ffi 𝑥 of"


def test_a_power_follows_its_base() -> None:
    small = content([(127, 724, "2")], size=6)
    drawing = (
        content([(72, 720, "the plane R")], size=10)
        + small
        + content([(133, 720, "is flat here")], size=10)
    )
    assert read(pdf([drawing]), "a.pdf").text == "the plane R2 is flat here"


# ── columns ───────────────────────────────────────────────────────────────────────────────────────

LEFT = [f"left line {number} goes on and on and" for number in range(8)]
RIGHT = [f"right line {number} goes on and on or" for number in range(8)]


@pytest.mark.parametrize("offset", [0, 7], ids=["level", "in between"])
def test_two_columns_stored_row_by_row_are_read_one_after_the_other(offset: int) -> None:
    rows: list[Placed] = [(72, 750, "A heading that goes across both of the columns below it")]
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        rows += [(72, 700 - 14 * number, left), (330, 700 - offset - 14 * number, right)]
    text = text_of(*rows)
    places = [text.index(line) for line in ["A heading", *LEFT, *RIGHT]]
    assert places == sorted(places)


def test_two_columns_stored_one_after_the_other_keep_their_order() -> None:
    text = text_of(*lines(*LEFT), *lines(*RIGHT, left=330))
    assert [text.index(line) for line in [*LEFT, *RIGHT]] == sorted(
        text.index(line) for line in [*LEFT, *RIGHT]
    )


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    first = ["A paragraph begins in the left", "column, does not end in it, and the con-"]
    text = text_of(
        *lines(*first, top=200),
        *lines("tinuation stands at the top of the", "right one.", left=330),
    )
    assert text.endswith(
        "does not end in it, and the continuation stands at the top of the right one."
    )


def test_rows_of_a_table_stay_together() -> None:
    names = ["Indonesia", "Germany", "Austria", "France", "Vatican", "Norway", "Chile", "Peru"]
    cells = [
        (left, 700 - 14 * row, f"{name} {what}")
        for row, name in enumerate(names)
        for left, what in ((72, "country"), (330, "people"))
    ]
    found = text_of(*cells).splitlines()
    assert found == [f"{name} country {name} people" for name in names]


# ── forms and notes ───────────────────────────────────────────────────────────────────────────────


def test_form_values_and_margin_notes_follow_their_page() -> None:
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R 7 0 R]>>>>")
    made.add("<</Type/Pages/Count 1/Kids[3 0 R]>>")
    about = "/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[6 0 R 7 0 R 8 0 R]"
    made.add(f"<</Type/Page/Parent 2 0 R{about}>>")
    made.stream(content(lines("A form.")))
    made.add(FONT)
    made.add(
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/V(Alice)/Rect[100 600 200 620]/P 3 0 R>>"
    )
    made.add("<</Type/Annot/Subtype/Widget/FT/Tx/T(Empty)/Rect[100 500 200 520]/P 3 0 R>>")
    made.add(
        "<</Type/Annot/Subtype/Text/Contents(A note in the margin.)/Rect[300 600 320 620]>>"
    )
    assert read(made.bytes(1), "a.pdf").text == "A form.\n\nName: Alice\nA note in the margin."


# ── no text ───────────────────────────────────────────────────────────────────────────────────────

PICTURE = b"q 100 0 0 100 9 9 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"


def test_pages_without_text_are_remarked_on() -> None:
    document = read(
        pdf([lines("One."), PICTURE, PICTURE, b"", lines("Five."), PICTURE]), "a.pdf"
    )
    assert document.remarks == ("pages 2–3, 6 have no text layer (scanned?)",)
    assert [
        document.text[mark.start :][:4] for mark in document.marks if mark.number in (1, 5)
    ] == ["One.", "Five"]
    assert read(pdf([lines("One."), PICTURE]), "a.pdf").remarks == (
        "page 2 has no text layer (scanned?)",
    )


LOCKED = (
    "/Encrypt<</Filter/Standard/V 1/R 2/O("
    + "o" * 32
    + ")/U("
    + "u" * 32
    + ")/P -4>>/ID[(a)(a)]"
)


def locked() -> bytes:
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add("<</Type/Pages/Count 0/Kids[]>>")
    return made.bytes(1, trailer=LOCKED)


@pytest.mark.parametrize(
    ("data", "reason", "words"),
    [
        (pdf([PICTURE, PICTURE]), "no-text-layer", "no page has a text layer"),
        (pdf([b""]), "no-text-layer", "no text"),
        (pdf([]), "damaged", "damaged"),
        (locked(), "password", "password"),
        (b"%PDF-1.7\nand nothing else", "damaged", "damaged"),
        (b"", "damaged", "no PDF"),
        (b"<html>not found</html>", "damaged", "no PDF"),
    ],
    ids=["scanned", "blank", "no pages", "locked", "broken", "empty", "another format"],
)
def test_a_file_without_text_gives_a_typed_reason(data: bytes, reason: str, words: str) -> None:
    with pytest.raises(ReadError, match=words) as failed:
        read(data, "a.pdf")
    assert failed.value.reason == reason
    assert not is_binary(data, "a.pdf")


def test_a_pdf_is_known_by_its_first_bytes_too() -> None:
    data = pdf([lines("Found by its first bytes.")])
    assert explain_refusal("a.PDF") is None
    assert not is_binary(data, "download")
    assert (
        reader_for("download", data).read(data, "download").text == "Found by its first bytes."
    )
    assert reader_for("download", data).read(data, "download").language == "pdf"


# ── citations ─────────────────────────────────────────────────────────────────────────────────────


def paper() -> bytes:
    pages = [
        lines(*(f"Page {page} says sentence {line}, which is meant." for line in range(40)))
        for page in range(1, 7)
    ]
    return pdf(pages, labels="0<</S/r>>2<</S/D>>")


@pytest.mark.parametrize("name", NAMES)
def test_a_chunk_is_cited_by_the_page_it_begins_on(name: str) -> None:
    document = read(paper(), "a.pdf")
    chunks = chunker_for(document, name=name, size=120, overlap=0).chunk(document)
    assert {chunk.span.page for chunk in chunks} == {1, 2, 3, 4, 5, 6}
    for chunk in chunks:
        begins = max(
            found.start()
            for found in re.finditer("Page", document.text)
            if found.start() <= chunk.span.start
        )
        assert chunk.span.page == int(document.text[begins + 5])


def test_a_hit_in_a_pdf_names_the_page(tmp_path: Path) -> None:
    pages = [
        lines("Nothing of note."),
        lines("The zebra is striped."),
        lines("The okapi is shy."),
        lines("An end."),
    ]
    (tmp_path / "animals.pdf").write_bytes(pdf([*pages], labels="0<</S/r>>2<</S/D/St 7>>"))
    (tmp_path / "scan.pdf").write_bytes(pdf([PICTURE]))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        report = engine.sync(embed=False)
        (failure,) = report.failed
        assert failure.uri == "scan.pdf"
        assert failure.reason.startswith("no page has a text layer")
        places = {
            query: engine.search(query, top_k=1, mode="words")[0].citation
            for query in ("zebra", "okapi", "note")
        }
    assert places == {
        "note": "animals.pdf p.i (page 1)",
        "zebra": "animals.pdf p.ii (page 2)",
        "okapi": "animals.pdf p.7 (page 3)",
    }


# ── real ones, where they are at hand ─────────────────────────────────────────────────────────────

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "pdf_samples"


def known() -> Iterator[tuple[Path, dict[str, object]]]:
    if (SAMPLES / "files.json").is_file():
        for about in json.loads((SAMPLES / "files.json").read_text())["data"]:
            if (SAMPLES / about["path"]).is_file():
                yield SAMPLES / about["path"], about


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not beside this checkout")
def test_every_sample_is_read_with_its_pages_or_gives_a_reason() -> None:
    reasons: dict[str, str] = {}
    for path, about in known():
        try:
            document = reader_for(path.name).read(path.read_bytes(), path.name)
        except ReadError as error:
            reasons[path.name] = error.reason
            continue
        assert document.metadata["pages"] == about["pages"] == len(document.marks), path.name
        assert not about["encrypted"] or document.text
    assert Counter(reasons.values()) == {"no-text-layer": 5, "password": 1, "damaged": 1}


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not beside this checkout")
def test_a_two_column_paper_is_read_in_order() -> None:
    [path] = (SAMPLES / "026-latex-multicolumn").glob("*.pdf")
    text = read(path.read_bytes(), path.name).text
    order = [
        "Two-Column Document",
        "Abstract",
        "consectetuer adipiscing elit",
        "Phasellus adipiscing semper elit",
    ]
    assert [text.index(words) for words in order] == sorted(
        text.index(words) for words in order
    )
    assert (
        "Donec nonummy pellentesque" in text
    )  # from the end of one column to the top of the next


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not beside this checkout")
def test_a_real_book_gives_the_expected_text() -> None:
    [path] = (SAMPLES / "009-pdflatex-geotopo").glob("*komprimiert.pdf")
    found, expected = (
        Counter(re.findall(r"\w+", text))
        for text in (
            read(path.read_bytes(), path.name).text,
            (SAMPLES / "GeoTopo-book.groundtruth.txt").read_text("utf-8"),
        )
    )
    shared = (found & expected).total()
    assert 2 * shared / (found.total() + expected.total()) > 0.96


def test_documents_of_one_file_are_the_same_each_time() -> None:
    first: Document = read(paper(), "a.pdf")
    assert first == read(paper(), "a.pdf")
