"""Small office files, books, pages and notebooks, sound ones and hostile ones, made while the tests run."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from xml.sax.saxutils import escape, quoteattr

Parts = Mapping[str, str | bytes]

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_SHEET = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "draw", "presentation", "meta")
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def zipped(parts: Parts) -> bytes:
    """Return an archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a part that lists relations: id → (kind, target)."""
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_RELATION}{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


# ── Word ──────────────────────────────────────────────────────────────────────────────────────────


def paragraph(text: str, style: str = "", inside: str = "") -> str:
    """Return a paragraph of a document; `inside` is more XML behind its text."""
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return (
        f'<w:p>{about}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>{inside}</w:p>'
    )


def docx(body: str, extra: Parts | None = None) -> bytes:
    """Return a document with this body."""
    styles = "".join(
        f'<w:style w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2, 3)
    )
    styles += (
        '<w:style w:styleId="Own"><w:name w:val="own"/><w:basedOn w:val="Heading2"/></w:style>'
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
            "word/document.xml": f"<w:document {_WORD}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_WORD}>{styles}</w:styles>",
            **(extra or {}),
        }
    )


# ── PowerPoint ────────────────────────────────────────────────────────────────────────────────────


def shape(lines: Sequence[str], place: str = "body") -> str:
    """Return a shape of a slide."""
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{place}"/></p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>'


def slide(shapes: str) -> str:
    """Return a slide that holds these shapes."""
    return f"<p:sld {_SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"


def pptx(
    slides: Mapping[str, str], order: Sequence[str], notes: Mapping[str, str] | None = None
) -> bytes:
    """Return slides by their file's name, shown in another order, some with speaker notes."""
    listed = "".join(
        f'<p:sldId id="{256 + at}" r:id="{name}"/>' for at, name in enumerate(order)
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations({"r1": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"<p:presentation {_SLIDE}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {name: ("slide", f"slides/{name}.xml") for name in slides}
        ),
    }
    for name, content in slides.items():
        parts[f"ppt/slides/{name}.xml"] = content
    for name, text in (notes or {}).items():
        parts[f"ppt/slides/_rels/{name}.xml.rels"] = relations(
            {"n": ("notesSlide", f"../notesSlides/{name}.xml")}
        )
        parts[f"ppt/notesSlides/{name}.xml"] = slide(shape([text]) + shape(["7"], "sldNum"))
    return zipped(parts)


# ── Excel ─────────────────────────────────────────────────────────────────────────────────────────


def xlsx(sheets: Mapping[str, str], strings: Sequence[str] = (), styles: str = "") -> bytes:
    """Return a workbook: sheet's name → its rows as XML."""
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{at}" r:id="r{at}"/>'
        for at, name in enumerate(sheets, 1)
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations({"r1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f"<workbook {_SHEET}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {
                **{
                    f"r{at}": ("worksheet", f"worksheets/sheet{at}.xml")
                    for at in range(1, len(sheets) + 1)
                },
                "s": ("sharedStrings", "sharedStrings.xml"),
                "t": ("styles", "styles.xml"),
            }
        ),
        "xl/sharedStrings.xml": f"<sst {_SHEET}>{''.join(f'<si><t>{escape(one)}</t></si>' for one in strings)}</sst>",
        "xl/styles.xml": f"<styleSheet {_SHEET}>{styles}</styleSheet>",
    }
    for at, rows in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{at}.xml"] = (
            f"<worksheet {_SHEET}><sheetData>{rows}</sheetData></worksheet>"
        )
    return zipped(parts)


def row(number: int, *cells: str) -> str:
    """Return a row of plain texts."""
    inside = "".join(
        f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        for at, cell in enumerate(cells)
        if cell
    )
    return f'<row r="{number}">{inside}</row>'


# ── OpenDocument, books, notebooks ────────────────────────────────────────────────────────────────


def opendocument(kind: str, body: str, title: str = "") -> bytes:
    """Return a file of the kind text, spreadsheet or presentation."""
    return zipped(
        {
            "content.xml": f"<office:document-content {_ODF}><office:body><office:{kind}>{body}</office:{kind}>"
            "</office:body></office:document-content>",
            "meta.xml": f'<office:document-meta {_ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
            f"<dc:title>{escape(title)}</dc:title></office:meta></office:document-meta>",
        }
    )


def epub(
    chapters: Mapping[str, str], order: Sequence[str], labels: Mapping[str, str] | None = None
) -> bytes:
    """Return a book: chapter's file → its HTML, read in an order, named by a table of contents."""
    manifest = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in chapters
    )
    links = "".join(
        f'<li><a href="{name}.xhtml#top">{escape(label)}</a></li>'
        for name, label in (labels or {}).items()
    )
    return zipped(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Book</dc:title></metadata><manifest>'
            f'{manifest}<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
            "</manifest>"
            f"<spine>{''.join(f'<itemref idref={quoteattr(name)}/>' for name in order)}</spine></package>",
            "OEBPS/nav.xhtml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol>{links}</ol></nav></body></html>',
            **{f"OEBPS/{name}.xhtml": content for name, content in chapters.items()},
        }
    )


def notebook(cells: Sequence[object], language: str = "python") -> bytes:
    """Return a notebook of these cells."""
    about = {"kernelspec": {"language": language, "name": "any"}}
    return json.dumps({"cells": list(cells), "metadata": about, "nbformat": 4}).encode()


# ── samples and hostile files ─────────────────────────────────────────────────────────────────────


def _some_words(rng: random.Random) -> str:
    return " ".join(
        rng.choice(("lease", "writer", "Größe", "reads & waits", "字", "42", "<tag>"))
        for _ in range(6)
    )


def _docx(rng: random.Random) -> bytes:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph(_some_words(rng))}</w:tc></w:tr></w:tbl>"
    return docx(paragraph(_some_words(rng), "Heading1") + paragraph(_some_words(rng)) + table)


def _pptx(rng: random.Random) -> bytes:
    return pptx(
        {"s1": slide(shape([_some_words(rng)], "title") + shape(["a", _some_words(rng)]))},
        ["s1"],
        {"s1": "say it"},
    )


def _xlsx(rng: random.Random) -> bytes:
    return xlsx(
        {"Costs": row(1, "name", "sum") + row(2, _some_words(rng), str(rng.random()))}, ["x"]
    )


def _odt(rng: random.Random) -> bytes:
    return opendocument(
        "text", f"<text:h>T</text:h><text:p>{escape(_some_words(rng))}</text:p>"
    )


def _ods(rng: random.Random) -> bytes:
    cell = f"<table:table-cell><text:p>{escape(_some_words(rng))}</text:p></table:table-cell>"
    return opendocument(
        "spreadsheet",
        f'<table:table table:name="S"><table:table-row>{cell}</table:table-row></table:table>',
    )


def _odp(rng: random.Random) -> bytes:
    box = f"<draw:frame><draw:text-box><text:p>{escape(_some_words(rng))}</text:p></draw:text-box></draw:frame>"
    return opendocument("presentation", f"<draw:page>{box}</draw:page>")


def _epub(rng: random.Random) -> bytes:
    return epub(
        {"one": f"<html><body><h1>One</h1><p>{escape(_some_words(rng))}</p></body></html>"},
        ["one"],
        {"one": "I"},
    )


def _html(rng: random.Random) -> bytes:
    body = f"<h1>H</h1><p>{escape(_some_words(rng))}<ul><li>a</ul>"
    return f"<html><head><title>T</title></head><body>{body}</body>".encode()


def _notebook(rng: random.Random) -> bytes:
    cell = {
        "cell_type": "code",
        "source": ["x = 1\n"],
        "outputs": [{"output_type": "stream", "text": _some_words(rng)}],
    }
    return notebook([{"cell_type": "markdown", "source": "# Title"}, cell])


SAMPLES: dict[str, Callable[[random.Random], bytes]] = {
    "docx": _docx, "pptx": _pptx, "xlsx": _xlsx, "odt": _odt, "ods": _ods, "odp": _odp, "epub": _epub, "html": _html,
    "notebook": _notebook,
}  # fmt: skip
"""Format's name → a small sound file of it."""

ENTITIES = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'


@cache
def zip_bomb(name: str) -> bytes:
    """Return an archive whose one member unpacks to much more than anyone wrote."""
    return zipped({name: b"<w>" + b" " * 30_000_000 + b"</w>"})


def hostile(rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield (uri, bytes) of files made to do harm, or broken on their way; every one has to end in a `ReadError`."""
    sound = _docx(rng)
    yield "cut.docx", sound[: len(sound) // 2]
    yield "no-end.docx", sound[:-22]
    yield "empty.docx", b""
    yield "text.xlsx", b"not an archive at all"
    yield "nothing.pptx", zipped({})
    yield "no-parts.xlsx", zipped({"xl/other.xml": "<x/>"})
    yield "old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512
    yield (
        "locked.docx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
    )
    yield "locked-zip.docx", _flagged(sound)
    yield "no-xml.docx", zipped({"word/document.xml": b"\x00\x01\x02 binary"})
    yield "open-tag.docx", zipped({"word/document.xml": "<w:document><w:body>"})
    body = "<w:body><w:p><w:r><w:t>&c;</w:t></w:r></w:p></w:body>"
    entities = f'<?xml version="1.0"?>{ENTITIES}<w:document {_WORD}>{body}</w:document>'
    yield "entities.docx", zipped({"word/document.xml": entities})
    yield "entities-wide.docx", zipped({"word/document.xml": entities.encode("utf-16")})
    outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><office:document-content>&x;</office:document-content>'
    yield "outside.odt", zipped({"content.xml": outside})
    yield (
        "wrong.epub",
        zipped({"META-INF/container.xml": '<c><rootfile full-path="../../etc/passwd"/></c>'}),
    )
    yield "deep.html", b"<div>" * 5_000
    yield "list.ipynb", b"[1, 2]"
    yield "cut.ipynb", b'{"cells": [{"cell_type": "code"'
    yield "deep.ipynb", b"[" * 100_000
    nested = "<w:sdt>" * 5_000 + "</w:sdt>" * 5_000
    yield "deep.docx", docx(nested)
    for name, path in (("bomb.docx", "word/document.xml"), ("bomb.odt", "content.xml")):
        yield name, zip_bomb(path)


def _flagged(data: bytes) -> bytes:
    """Return an archive with the flag set that says its members are encrypted."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = changed.find(signature)
        while at >= 0:
            flags = struct.unpack_from("<H", changed, at + offset)[0]
            struct.pack_into("<H", changed, at + offset, flags | 1)
            at = changed.find(signature, at + 4)
    return bytes(changed)
