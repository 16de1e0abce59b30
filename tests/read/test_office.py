"""Office files: the text of documents, slides and workbooks, and their marks."""

from __future__ import annotations

import pytest

from ragstone.read import docx as word
from ragstone.read import odf
from ragstone.read import pptx as powerpoint
from ragstone.read import xlsx as excel
from ragstone.types import Document, Mark
from tests.read.office_files import (
    docx,
    opendocument,
    paragraph,
    pptx,
    relations,
    row,
    shape,
    slide,
    xlsx,
)

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def doc(body: str, **extra: str) -> Document:
    return word.read(
        docx(body, {name.replace("__", "/") + ".xml": part for name, part in extra.items()}),
        "a.docx",
    )


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


def test_headings_are_known_by_their_style_and_are_sections() -> None:
    document = doc(
        paragraph("Plan", "Heading1")
        + paragraph("Why so.")
        + paragraph("Costs", "Own")
        + paragraph("5 €")
    )
    assert document.text == "# Plan\n\nWhy so.\n\n## Costs\n\n5 €\n"
    assert document.marks == (Mark(0, 1, "Plan", "section"), Mark(17, 2, "Costs", "section"))
    assert (document.title, document.kind, document.language) == ("Plan", "doc", "docx")


def test_lists_and_tables_are_written_line_by_line() -> None:
    item = '<w:p><w:pPr><w:numPr><w:ilvl w:val="{}"/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b c"))
    table = f"<w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl>"
    assert (
        doc(item.format(0, "one") + item.format(1, "two") + table).text
        == "- one\n  - two\n\n| a | b c |\n| a | b c |\n"
    )


def test_a_table_of_one_column_is_only_a_frame() -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('In a box', 'Heading1')}{paragraph('text')}</w:tc></w:tr></w:tbl>"
    assert doc(table).text == "# In a box\n\ntext\n"


def test_deleted_moved_and_hidden_text_is_left_out_and_inserted_text_is_kept() -> None:
    changed = (
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> seen</w:t></w:r>'
    )
    row = f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph('gone')}</w:tc><w:tc/></w:tr>"
    assert (
        doc(paragraph("all ", inside=changed) + f"<w:tbl>{row}</w:tbl>").text
        == "all new seen\n"
    )


def test_links_fields_breaks_and_tabs_keep_their_text() -> None:
    inside = (
        "<w:hyperlink><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r>"
        "<w:fldSimple><w:r><w:t>7</w:t></w:r></w:fldSimple><w:r><w:instrText>PAGE</w:instrText></w:r>"
    )
    assert doc(paragraph("see ", inside=inside)).text == "see here x\ny7\n"


def test_a_text_box_is_read_once_behind_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    both = f"<w:r><AlternateContent><Choice>{box}</Choice><Fallback>{box}</Fallback></AlternateContent></w:r>"
    assert doc(paragraph("anchor", inside=both)).text == "anchor\n\nboxed\n"


def test_notes_are_at_the_end_and_their_references_stay() -> None:
    notes = (
        f'<w:footnotes {WORD}><w:footnote w:type="separator" w:id="-1">{paragraph("---")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("See the annex.")}</w:footnote></w:footnotes>'
    )
    body = paragraph("Claim", inside='<w:r><w:footnoteReference w:id="2"/></w:r>')
    assert doc(body, word__footnotes=notes).text == "Claim[^2]\n\n[^2]: See the annex.\n"


def test_the_main_part_is_found_by_its_relation() -> None:
    moved = docx(
        "",
        {
            "_rels/.rels": relations({"a": ("officeDocument", "/else/where.xml")}),
            "else/where.xml": f"<w:document {WORD}><w:body>{paragraph('moved')}</w:body></w:document>",
        },
    )
    assert word.read(moved, "a.docx").text == "moved\n"


def test_a_document_of_pictures_says_that_it_has_no_text() -> None:
    assert doc("<w:p><w:r><w:drawing/></w:r></w:p>").remarks == (
        "no text found in the document",
    )


# ── slides ────────────────────────────────────────────────────────────────────────────────────────


def test_slides_come_in_the_order_they_are_shown_with_notes_and_tables() -> None:
    table = (
        "<p:graphicFrame><a:graphic><a:tbl><a:tr><a:tc><a:p><a:r><a:t>k</a:t></a:r></a:p></a:tc>"
        "<a:tc><a:p><a:r><a:t>v</a:t></a:r></a:p></a:tc></a:tr></a:tbl></a:graphic></p:graphicFrame>"
    )
    data = pptx(
        {
            "slide1": slide(
                shape(["Second"], "title") + shape(["one", "two"]) + shape(["3"], "sldNum")
            ),
            "slide2": slide(shape(["First"], "ctrTitle") + shape(["alone"])),
            "slide3": slide(table),
        },
        ["slide2", "slide1", "slide3"],
        {"slide1": "Say it slowly."},
    )
    document = powerpoint.read(data, "a.pptx")
    assert document.text == (
        "# First\n\nalone\n\n# Second\n\n- one\n- two\n\nNotes: Say it slowly.\n\n# Slide 3\n\n| k | v |\n"
    )
    assert [
        (mark.number, mark.unit, document.text[mark.start :][:4]) for mark in document.marks
    ] == [
        (1, "slide", "# Fi"),
        (2, "slide", "# Se"),
        (3, "slide", "# Sl"),
    ]
    assert document.title == "First"


# ── workbooks ─────────────────────────────────────────────────────────────────────────────────────

STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot;d&quot;"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/>'
    "</cellXfs>"
)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('<c t="s"><v>1</v></c>', "shared two"),
        ('<c t="s"><v>99</v></c>', ""),
        ('<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>', "inline"),
        ("<c><v>12</v></c>", "12"),
        ("<c><v>12.0</v></c>", "12"),
        ("<c><v>0.30000000000000004</v></c>", "0.3"),
        ("<c><v>1e300</v></c>", "1e+300"),
        ('<c s="1"><v>45292</v></c>', "2024-01-01"),
        ('<c s="2"><v>45292.5</v></c>', "2024-01-01 12:00:00"),
        ('<c s="3"><v>45292</v></c>', "45292"),
        ('<c s="4"><v>0.25</v></c>', "06:00:00"),
        ('<c s="1"><v>-5</v></c>', "-5"),
        ('<c t="b"><v>1</v></c>', "TRUE"),
        ('<c t="b"><v>0</v></c>', "FALSE"),
        ('<c t="str"><f>A1&amp;"x"</f><v>made</v></c>', "made"),
        ("<c><f>1+1</f><v>2</v></c>", "2"),
        ('<c t="e"><v>#REF!</v></c>', "#REF!"),
        ('<c t="d"><v>2024-05-06</v></c>', "2024-05-06"),
        ('<c s="77"><v>5</v></c>', "5"),
        ("<c/>", ""),
    ],
)
def test_a_cell_has_the_value_that_excel_shows(cell: str, shown: str) -> None:
    data = xlsx(
        {"S": f'<row r="1"><c t="inlineStr"><is><t>x</t></is></c>{cell}</row>'},
        ["one", "shared two"],
        STYLES,
    )
    assert excel.read(data, "a.xlsx").text == f"# S\n\nx | {shown}\n".replace("x | \n", "x\n")


def test_rows_are_cited_by_sheet_and_row() -> None:
    many = "".join(
        row(number, f"item {number}", "words enough to fill a line of some length")
        for number in range(2, 40)
    )
    document = excel.read(
        xlsx(
            {"Costs": row(1, "Name", "Note") + many, "Empty": "", "More": row(7, "a", "", "c")}
        ),
        "a.xlsx",
    )
    assert document.text.startswith("# Costs\n\nName | Note\nitem 2 | words")
    assert document.text.endswith("\n\n# More\n\na |  | c\n")
    assert document.marks[0] == Mark(0, 1, "Costs row 1", "sheet")
    assert document.marks[-1].label == "More row 7" and document.marks[-1].number == 3
    for mark in document.marks[1:-1]:
        number = mark.label.removeprefix("Costs row ")
        assert document.text[mark.start :].startswith(f"item {number} |")
    assert document.kind == "data"


def test_a_cell_far_to_the_right_adds_few_empty_cells() -> None:
    data = xlsx({"S": '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>' * 100})
    assert len(excel.read(data, "a.xlsx").text) < 10_000


# ── OpenDocument ──────────────────────────────────────────────────────────────────────────────────


def test_an_odt_gives_headings_lists_tables_notes_and_boxes() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="2">Part</text:h><text:p>a<text:s text:c="3"/>b<text:tab/><text:span>c</text:span>'
        "<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>noted</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>k</text:p></table:table-cell><table:table-cell>"
        "<text:p>v</text:p></table:table-cell></table:table-row></table:table>"
        "<text:p>anchor<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>"
    )
    document = odf.read_text(opendocument("text", body, "Title"), "a.odt")
    assert document.text == (
        "## Part\n\na b c[^1]\n\n- one\n  - two\n\n| k | v |\n\nanchor\n\nboxed\n\n[^1]: noted\n"
    )
    assert (document.title, document.marks) == ("Title", (Mark(0, 1, "Part", "section"),))


def test_an_ods_counts_repeated_rows_and_columns() -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    twice = ' table:number-columns-repeated="2"'
    rows = (
        f"<table:table-row>{cell.format('', 'a')}{cell.format('', 'b')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
        f"<table:table-row>{cell.format(twice, 'c')}</table:table-row>"
    )
    document = odf.read_sheets(
        opendocument("spreadsheet", f'<table:table table:name="T">{rows}</table:table>'),
        "a.ods",
    )
    assert document.text == "# T\n\na | b\nc | c\n"
    assert document.marks == (Mark(0, 1, "T row 1", "sheet"),)


def test_an_odp_gives_slides_with_titles_and_notes() -> None:
    frame = "<draw:frame{}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    page = (
        frame.format(' presentation:class="title"', "Hello")
        + frame.format("", "body")
        + f"<presentation:notes>{frame.format('', 'slowly')}</presentation:notes>"
    )
    document = odf.read_slides(
        opendocument("presentation", f"<draw:page>{page}</draw:page><draw:page/>"), "a.odp"
    )
    assert document.text == "# Hello\n\nbody\n\nNotes: slowly\n\n# Slide 2\n"
    assert [(mark.number, mark.unit) for mark in document.marks] == [(1, "slide"), (2, "slide")]
