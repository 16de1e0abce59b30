"""PDF: the text of every page with its number and label, form values and notes, and what is known of the document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from ctypes import create_string_buffer
from typing import Any, Final

from pypdfium2 import PdfDocument, PdfiumError, raw

from ragstone.errors import ReadError
from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.read.layout import Line, cleaned, flowed, rejoined
from ragstone.read.pdf_lines import lines_of
from ragstone.types import Document, Mark, Metadata

PAGE_BREAK: Final = "\n\f\n"
_NO_TEXT: Final = "no page has a text layer (scanned?)"
_DATE: Final = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?")
_NO_TITLE: Final = re.compile(
    r"untitled|\(?anonymous\)?|.*\.(?:docx?|indd|tex|dvi|odt|pptx?|xlsx?|qxd|pdf)|microsoft word.*", re.I
)
_LONGEST_TITLE: Final = 200
_MOST_NOTES: Final = 2_000


def read(data: bytes, uri: str) -> Document:
    """Return the document in a PDF; `ReadError` if it is locked, damaged, or has no text at all."""
    with closing(_opened(data)) as pdf:
        lines, notes, silent, broken = _pages(pdf)
        pages = [flowed(each) for each in lines]
        texts = rejoined(["\n\n".join(filter(None, pair)) for pair in zip(pages, notes, strict=True)])
        if not any(text.strip() for text in texts):
            raise _without_text(silent, broken)
        text, marks = _joined(pdf, texts)
        told = pdf.get_metadata_dict(skip_empty=True)
        kind, _ = kind_of(uri)
        return Document(
            uri,
            text,
            kind if kind != "text" else "doc",
            "pdf",
            _title(told.get("Title", ""), lines) or name_of(uri),
            _metadata(told, len(texts)),
            marks,
            remarks=_remarks(pdf, silent, broken),
        )


def _opened(data: bytes) -> Any:  # noqa: ANN401 - pypdfium2 has no types
    """Return the open document, or raise `ReadError` with the reason."""
    try:
        pdf = PdfDocument(data)
    except PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise ReadError("it is protected by a password", reason="password") from error
        if error.err_code == raw.FPDF_ERR_SECURITY:
            raise ReadError("it is encrypted in a way that cannot be read", reason="password") from error
        what = "it is damaged" if data.startswith(b"%PDF-") else "it is no PDF"
        raise ReadError(what, reason="damaged") from error
    if len(pdf) == 0:
        pdf.close()
        raise ReadError("it has no pages", reason="damaged")
    if pdf.get_formtype() != raw.FORMTYPE_NONE:
        with suppress(PdfiumError):
            pdf.init_forms()
    return pdf


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────


def _pages(pdf: Any) -> tuple[list[list[Line]], list[str], list[int], list[int]]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the lines and notes of every page, and the numbers of those without text and of those that are broken."""
    lines: list[list[Line]] = []
    notes: list[str] = []
    silent: list[int] = []
    broken: list[int] = []
    for number in range(1, len(pdf) + 1):
        lines.append([])
        notes.append("")
        try:
            with closing(pdf[number - 1]) as page:
                with closing(page.get_textpage()) as textpage:
                    lines[-1] = lines_of(textpage)
                notes[-1] = _notes(page, pdf)
                if not lines[-1] and not notes[-1] and raw.FPDFPage_CountObjects(page) > 0:
                    silent.append(number)
        except PdfiumError:
            broken.append(number)
    return lines, notes, silent, broken


def _notes(page: Any, pdf: Any) -> str:  # noqa: ANN401 - pypdfium2 has no types
    """Return what was filled into a page's form, and what was written in its margin."""
    found: list[str] = []
    for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_NOTES)):
        note = raw.FPDFPage_GetAnnot(page, at)
        if not note:
            continue
        kind = raw.FPDFAnnot_GetSubtype(note)
        if kind == raw.FPDF_ANNOT_WIDGET and pdf.formenv:
            found.append(_field(note, pdf.formenv))
        elif kind not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_WIDGET):
            found.append(_string(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
        raw.FPDFPage_CloseAnnot(note)
    return "\n".join(dict.fromkeys(filter(None, found)))


def _field(note: Any, form: Any) -> str:  # noqa: ANN401 - pypdfium2 has no types
    """Return a form field as `name: value`, nothing where it is empty or a button that is off."""
    value = _string(raw.FPDFAnnot_GetFormFieldValue, form, note)
    if not value or value == "Off":
        return ""
    name = _string(raw.FPDFAnnot_GetFormFieldAlternateName, form, note)
    name = name or _string(raw.FPDFAnnot_GetFormFieldName, form, note)
    return f"{name}: {value}" if name else value


def _string(ask: Callable[..., int], *of: Any) -> str:
    """Return a text that PDFium gives in two steps: its size, then itself."""
    size = ask(*of, None, 0)
    if size <= 2:
        return ""
    buffer = create_string_buffer(size)
    given = raw.FPDF_WCHAR * (size // 2)
    ask(*of, given.from_buffer(buffer), size)
    return cleaned(buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n")).strip()


def _joined(pdf: Any, texts: Sequence[str]) -> tuple[str, tuple[Mark, ...]]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the whole text, and where its pages begin."""
    marks: list[Mark] = []
    at = 0
    for number, text in enumerate(texts, 1):
        label = cleaned(pdf.get_page_label(number - 1)).strip()[:40]
        marks.append(Mark(at, number, "" if label == str(number) else label))
        at += len(text) + len(PAGE_BREAK)
    return PAGE_BREAK.join(texts), tuple(marks)


# ── what is known of it ───────────────────────────────────────────────────────────────────────────


def _title(told: str, lines: Sequence[Sequence[Line]]) -> str:
    """Return the title that the document gives itself, or its first big line."""
    told = " ".join(cleaned(told).split())
    if told and not _NO_TITLE.fullmatch(told):
        return told[:_LONGEST_TITLE]
    placed = [line for line in (lines[0] if lines else ()) if line.placed]
    if len(placed) < 3:
        return ""
    heights = sorted(line.height for line in placed)
    tallest = heights[-1]
    if tallest < 1.2 * heights[len(heights) // 2]:
        return ""
    first = next(at for at, line in enumerate(placed) if line.height > 0.95 * tallest)
    big = [placed[first].text]
    for line in placed[first + 1 : first + 4]:
        if line.height < 0.95 * tallest:
            break
        big.append(line.text)
    title = " ".join(rejoined([" ".join(big)])[0].split())
    return title if 3 <= len(title) <= _LONGEST_TITLE else ""


def _metadata(told: dict[str, str], pages: int) -> Metadata:
    """Return what the document says of itself, and how many pages it has."""
    known: dict[str, str | int] = {"pages": pages}
    for key in ("Author", "Subject", "Keywords"):
        if value := " ".join(cleaned(told.get(key, "")).split()):
            known[key.lower()] = value[:_LONGEST_TITLE]
    if date := _DATE.match(told.get("CreationDate", "")):
        known["date"] = "-".join(filter(None, date.groups()))
    return known


def _remarks(pdf: Any, silent: Sequence[int], broken: Sequence[int]) -> tuple[str, ...]:  # noqa: ANN401 - pypdfium2 has no types
    """Return what a person should know about how it was read."""
    remarks = []
    if silent:
        remarks.append(f"{_numbered(silent)} no text layer (scanned?)")
    if broken:
        remarks.append(f"{_numbered(broken)} been left out: damaged")
    attached = pdf.count_attachments()
    if attached:
        remarks.append("1 attachment was not read" if attached == 1 else f"{attached} attachments were not read")
    return tuple(remarks)


def _numbered(pages: Sequence[int]) -> str:
    """Return pages in words: `page 3 has`, `pages 3–5, 9 have`."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and runs[-1][-1] == page - 1:
            runs[-1][1:] = [page]
        else:
            runs.append([page])
    told = ", ".join("–".join(map(str, run)) for run in runs[:20]) + (", …" if len(runs) > 20 else "")
    return f"page {told} has" if len(pages) == 1 else f"pages {told} have"


def _without_text(silent: Sequence[int], broken: Sequence[int]) -> ReadError:
    """Return the error for a document that says nothing."""
    if broken and not silent:
        return ReadError("none of its pages can be read", reason="damaged")
    return ReadError(_NO_TEXT if silent else "it has no text", reason="no-text-layer")
