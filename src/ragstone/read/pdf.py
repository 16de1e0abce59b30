"""PDF: the text of every page with its number and label, form values, notes and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from ctypes import create_string_buffer
from dataclasses import dataclass, field
from typing import Final

from pypdfium2 import PdfDocument, PdfiumError, raw

from ragstone.errors import ReadError
from ragstone.read.document_kinds import kind_of
from ragstone.read.file_formats import name_of
from ragstone.read.markdown_writer import one_line
from ragstone.read.page_text import PAGE_BREAK, describe_pages
from ragstone.read.pdf_layout import (
    PdfLine,
    clean_text,
    join_lines,
    rejoin_words,
)
from ragstone.read.pdf_lines import PdfiumObject, read_lines
from ragstone.types import Document, Mark, Metadata

_DATE: Final = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?")
_USELESS_TITLE: Final = re.compile(
    r"untitled|\(?anonymous\)?|.*\.(?:docx?|indd|tex|dvi|odt|pptx?|xlsx?|qxd|pdf)|microsoft word.*",
    re.I,
)
_MAX_VALUE: Final = 200
_MAX_LABEL: Final = 40
_MAX_ANNOTATIONS: Final = 2_000
_MAX_PAGES: Final = 20_000
"""A small file can list one page very often."""
_TITLE_LINES: Final = 4


@dataclass(slots=True)
class _Pages:
    """The content of all pages, and the numbers of pages without text and of damaged pages."""

    lines: list[list[PdfLine]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)

    def texts(self) -> list[str]:
        """Return the text of each page, followed by its notes."""
        texts = []
        for lines, notes in zip(self.lines, self.notes, strict=True):
            parts = (join_lines(lines), notes)
            texts.append("\n\n".join(filter(None, parts)))
        return rejoin_words(texts)


def read(data: bytes, uri: str) -> Document:
    """Return the document in a PDF. Raise `ReadError` if it is encrypted, damaged, or has no text at all."""
    return _read(data, uri, may_be_scanned=False)


def read_scanned(data: bytes, uri: str) -> Document:
    """Return the document in a PDF, also if all of its pages are pictures; their texts are empty."""
    return _read(data, uri, may_be_scanned=True)


def _read(data: bytes, uri: str, *, may_be_scanned: bool) -> Document:
    with closing(_open(data)) as pdf:
        pages = _read_pages(pdf)
        texts = pages.texts()
        has_text = any(text.strip() for text in texts)
        if not has_text and not (may_be_scanned and pages.silent):
            raise _explain_missing_text(pages)
        properties = pdf.get_metadata_dict(skip_empty=True)
        title = _find_title(properties.get("Title", ""), pages.lines)
        kind, _ = kind_of(uri)
        return Document(
            uri,
            PAGE_BREAK.join(texts),
            "doc" if kind == "text" else kind,
            "pdf",
            title or name_of(uri),
            _build_metadata(properties, len(texts)),
            _build_marks(pdf, texts),
            remarks=_build_remarks(pdf, pages),
        )


def _open(data: bytes) -> PdfiumObject:
    """Return the open document, or raise `ReadError`."""
    try:
        pdf = PdfDocument(data)
    except PdfiumError as error:
        raise _explain_open_error(error, data) from error
    if len(pdf) == 0:
        pdf.close()
        raise ReadError("it has no pages", reason="damaged")
    if len(pdf) > _MAX_PAGES:
        count = len(pdf)
        pdf.close()
        raise ReadError(
            f"it has {count:,} pages, and at most {_MAX_PAGES:,} are read", reason="too-big"
        )
    if pdf.get_formtype() != raw.FORMTYPE_NONE:
        with suppress(PdfiumError):
            pdf.init_forms()
    return pdf


def _explain_open_error(error: PdfiumError, data: bytes) -> ReadError:
    if error.err_code == raw.FPDF_ERR_PASSWORD:
        return ReadError("it is protected by a password", reason="password")
    if error.err_code == raw.FPDF_ERR_SECURITY:
        return ReadError(
            "it is encrypted in a way that cannot be read",
            reason="password",
        )
    message = "it is damaged" if data.startswith(b"%PDF-") else "it is no PDF"
    return ReadError(message, reason="damaged")


def _explain_missing_text(pages: _Pages) -> ReadError:
    if pages.silent:
        return ReadError("no page has a text layer (scanned?)", reason="no-text-layer")
    if pages.damaged:
        return ReadError("none of its pages can be read", reason="damaged")
    return ReadError("it has no text", reason="no-text-layer")


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────


def _read_pages(pdf: PdfiumObject) -> _Pages:
    pages = _Pages()
    for number in range(1, len(pdf) + 1):
        lines: list[PdfLine] = []
        notes = ""
        try:
            with closing(pdf[number - 1]) as page:
                with closing(page.get_textpage()) as textpage:
                    lines = read_lines(textpage)
                notes = _read_annotations(page, pdf)
                if not lines and not notes and raw.FPDFPage_CountObjects(page) > 0:
                    pages.silent.append(number)
        except PdfiumError:
            pages.damaged.append(number)
        pages.lines.append(lines)
        pages.notes.append(notes)
    return pages


def _read_annotations(page: PdfiumObject, pdf: PdfiumObject) -> str:
    """Return the values of a page's form fields and the notes in its margin, each once."""
    texts: list[str] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        if kind == raw.FPDF_ANNOT_WIDGET:
            if pdf.formenv:
                texts.append(_read_form_field(annotation, pdf.formenv))
        elif kind not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
            texts.append(_read_string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents"))
        raw.FPDFPage_CloseAnnot(annotation)
    return "\n".join(dict.fromkeys(filter(None, texts)))


def _read_form_field(annotation: PdfiumObject, form: PdfiumObject) -> str:
    """Return a form field as `name: value`; empty if it has no value or is a button that is off."""
    value = _read_string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)
    if not value or value == "Off":
        return ""
    name = _read_string(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _read_string(raw.FPDFAnnot_GetFormFieldName, form, annotation)
    return f"{name}: {value}" if name else value


def _read_string(get: Callable[..., int], *arguments: object) -> str:
    """Return a string that PDFium gives in two steps: first its size, then its bytes."""
    size = get(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = create_string_buffer(size)
    characters = raw.FPDF_WCHAR * (size // 2)
    get(*arguments, characters.from_buffer(buffer), size)
    text = buffer.raw[: size - 2].decode("utf-16-le", "replace")
    return clean_text(text.replace("\r", "\n")).strip()


def _build_marks(pdf: PdfiumObject, texts: Iterable[str]) -> tuple[Mark, ...]:
    """Return a mark for the start of each page."""
    marks: list[Mark] = []
    start = 0
    for number, text in enumerate(texts, 1):
        label = clean_text(pdf.get_page_label(number - 1)).strip()
        if label == str(number):
            label = ""
        marks.append(Mark(start, number, label[:_MAX_LABEL]))
        start += len(text) + len(PAGE_BREAK)
    return tuple(marks)


# ── metadata ──────────────────────────────────────────────────────────────────────────────────────


def _find_title(property_title: str, pages: Sequence[Sequence[PdfLine]]) -> str:
    """Return the title in the properties, or the big lines at the top of the first page; empty if unsure."""
    title = one_line(clean_text(property_title))
    if title and not _USELESS_TITLE.fullmatch(title):
        return title[:_MAX_VALUE]
    lines = [line for line in pages[0] if line.has_box]
    if len(lines) < 3:
        return ""
    heights = sorted(line.height for line in lines)
    tallest = heights[-1]
    if tallest < 1.2 * heights[len(heights) // 2]:
        return ""
    big_lines = _first_run(lines, 0.95 * tallest)
    title = one_line(rejoin_words([" ".join(big_lines)])[0])
    return title if 3 <= len(title) <= _MAX_VALUE else ""


def _first_run(lines: Sequence[PdfLine], min_height: float) -> list[str]:
    """Return the texts of the first lines of at least a height that follow each other."""
    texts: list[str] = []
    for line in lines:
        if line.height > min_height and len(texts) < _TITLE_LINES:
            texts.append(line.text)
        elif texts:
            break
    return texts


def _build_metadata(properties: dict[str, str], pages: int) -> Metadata:
    """Return the number of pages, and author, subject, keywords and date if the properties have them."""
    metadata: dict[str, str | int] = {"pages": pages}
    for key in ("Author", "Subject", "Keywords"):
        value = one_line(clean_text(properties.get(key, "")))
        if value:
            metadata[key.lower()] = value[:_MAX_VALUE]
    date = _DATE.match(properties.get("CreationDate", ""))
    if date:
        metadata["date"] = "-".join(filter(None, date.groups()))
    return metadata


def _build_remarks(pdf: PdfiumObject, pages: _Pages) -> tuple[str, ...]:
    """Return remarks on pages that gave no text, and on attachments."""
    remarks = []
    if pages.silent:
        remarks.append(f"{describe_pages(pages.silent)} no text layer (scanned?)")
    if pages.damaged:
        remarks.append(f"{describe_pages(pages.damaged)} been left out: damaged")
    attachments = pdf.count_attachments()
    if attachments == 1:
        remarks.append("1 attachment was not read")
    elif attachments:
        remarks.append(f"{attachments} attachments were not read")
    return tuple(remarks)
