"""Whether the pages of a document can be shown as pictures beside their text."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.sources.folder.source import FILES
from ragstone.sources.secrets.placeholders import PLACEHOLDER_START
from ragstone.surfaces.web.file_states import FileState
from ragstone.types import StoredDocument


@dataclass(frozen=True, slots=True)
class PagePictures:
    """Whether pictures are shown, and why a PDF has none."""

    are_shown: bool
    reason: str = ""


def describe_pictures(
    document: StoredDocument, text: str, state: FileState, *, has_folder: bool
) -> PagePictures:
    """Return whether the pages can be shown as pictures; the engine checks it again for each picture."""
    if document.language != "pdf":
        return PagePictures(are_shown=False)
    reason = ""
    if document.source != FILES or not has_folder:
        reason = (
            "Its pages are shown as text: only the text of an added file is kept. "
            "To see pictures of its pages, put the file into the folder and sync."
        )
    elif state in ("changed", "gone"):
        reason = (
            "The file changed since it was indexed: only its text is shown. Sync the folder."
        )
    elif PLACEHOLDER_START in text:
        reason = "Secrets were taken out of its text, so its pages are not shown as pictures."
    return PagePictures(are_shown=not reason, reason=reason)
