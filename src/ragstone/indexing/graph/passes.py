"""The passes that build a graph: symbols of files, then their resolution, then the frameworks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone.code.file_languages import language_of
from ragstone.code.resolve import MANIFESTS, ProjectIndex, interface, resolve
from ragstone.errors import StoreDamaged
from ragstone.indexing.facts_codec import decode_facts, encode_facts
from ragstone.indexing.parser_process import parse_facts
from ragstone.protocols.cancellation import check_cancelled
from ragstone.types import Graph
from ragstone.types.code import FileFacts

if TYPE_CHECKING:
    from ragstone.indexing.graph.frameworks import FrameworkReader
    from ragstone.protocols import Progress

FILE_OWNER: Final = "file:"

logger = logging.getLogger(__name__)


def report_failure(step: str, error: Exception) -> str:
    """Log the traceback of a failed pass and return a short reason for the remarks."""
    logger.warning("%s failed", step, exc_info=error)
    return f"{type(error).__name__}: {error}"[:200]


@dataclass(slots=True)
class GraphPasses:
    """One run over a project. A pass that fails on one file or framework adds a remark, and the others go on."""

    uris: Sequence[str]
    """All files that exist now."""
    load_text: Callable[[str], str | None]
    stored_data: Mapping[str, bytes]
    """Data that earlier runs kept, by owner."""
    parsed: Mapping[str, FileFacts] = field(default_factory=dict)
    """The facts of files that the sync has just parsed, by uri."""
    remarks: list[str] = field(default_factory=list)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _facts: dict[str, FileFacts | None] = field(default_factory=dict)
    _new_data: dict[str, bytes] = field(default_factory=dict)
    """The encoded facts of the files that this run parsed, by owner."""

    def text(self, uri: str) -> str | None:
        """Return the text of a file; each file is loaded once."""
        if uri not in self._texts:
            try:
                self._texts[uri] = self.load_text(uri)
            except StoreDamaged as error:
                self.remarks.append(f"{uri}: {error.message}")
                self._texts[uri] = None
        return self._texts[uri]

    def read_symbols(
        self, changed: Iterable[str], progress: Progress | None
    ) -> dict[str, bytes]:
        """Parse the changed files and return the data to keep of them, by owner."""
        code_files = [uri for uri in changed if language_of(uri)]
        data: dict[str, bytes] = {}
        for done, uri in enumerate(code_files, start=1):
            check_cancelled()
            facts = self._parse(uri)
            self._facts[uri] = facts
            if facts is not None:
                data[FILE_OWNER + uri] = encode_facts(facts)
            if progress:
                progress("graph", done, len(code_files))
        self._new_data = dict(data)
        return data

    def facts(self, uri: str) -> FileFacts | None:
        """Return the symbols of a file, parsed now or kept from an earlier run; None if it is no code."""
        if uri not in self._facts:
            facts = None
            if FILE_OWNER + uri in self.stored_data:
                facts = self._stored_facts(uri)
                if facts is None:  # another version of Ragstone wrote them
                    facts = self._parse_again(uri)
            self._facts[uri] = facts
        return self._facts[uri]

    def resolve(self, changed: Sequence[str], gone: Sequence[str]) -> dict[str, Graph]:
        """Return the graphs of files by owner: of the changed ones, or of all if other files can see the change."""
        code_files = [uri for uri in self.uris if language_of(uri)]
        all_facts = [self.facts(uri) for uri in code_files]
        known_facts = [facts for facts in all_facts if facts is not None]
        index = ProjectIndex(known_facts, manifests=self._manifests())
        affected = code_files
        if not self._is_visible_change((*changed, *gone)):
            affected = [uri for uri in changed if language_of(uri)]
        return {FILE_OWNER + uri: self._resolve_file(uri, index) for uri in affected}

    def enter(self, uri: str) -> None:
        """Nothing to note: detecting a framework evaluates no file."""

    def run_frameworks(
        self, reader: FrameworkReader, used_before: Sequence[str]
    ) -> tuple[dict[str, Graph], list[str]]:
        """Return the graph of each framework that the project uses, and the names of those that failed."""
        failed: list[str] = []
        try:
            frameworks = reader.load()
        except Exception as error:  # noqa: BLE001 - a broken plug-in must not lose the graph of the files
            reason = report_failure("loading frameworks", error)
            self.remarks.append(f"frameworks could not be loaded: {reason}")
            return {}, list(used_before)
        used: list[str] = []
        for framework in frameworks:
            check_cancelled()
            try:
                if framework.detects(self):
                    used.append(framework.name)
            except Exception as error:  # noqa: BLE001 - as above, for one framework
                failed.append(framework.name)
                reason = report_failure(framework.name, error)
                self.remarks.append(f"{framework.name} could not be read: {reason}")
        if not used:
            return {}, failed
        reading = reader.read(used, self, self._facts_data)
        self.remarks += reading.remarks
        return reading.graphs, [*failed, *reading.failed]

    def _facts_data(self, uri: str) -> bytes | None:
        """Return the encoded facts of a file, or None if it is no code."""
        facts = self.facts(uri)
        if facts is None:
            return None
        return self._new_data.get(FILE_OWNER + uri) or self.stored_data[FILE_OWNER + uri]

    def _resolve_file(self, uri: str, index: ProjectIndex) -> Graph:
        """Return the graph of a file; empty if the file has no symbols or its resolution failed."""
        facts = self.facts(uri)
        if facts is None:
            return Graph()
        try:
            return resolve(facts, index)
        except Exception as error:  # noqa: BLE001 - one strange file must not lose the others
            reason = report_failure(uri, error)
            self.remarks.append(f"{uri}: not resolved: {reason}")
            return Graph()

    def _manifests(self) -> dict[str, str]:
        manifests: dict[str, str] = {}
        for uri in self.uris:
            text = self.text(uri) if _is_manifest(uri) else None
            if text is not None:
                manifests[uri] = text
        return manifests

    def _parse(self, uri: str) -> FileFacts | None:
        if uri in self.parsed:
            return self.parsed[uri]
        text = self.text(uri)
        if text is None:
            return None
        try:
            facts = parse_facts(text, uri)
        except Exception as error:  # noqa: BLE001 - one strange file must not lose the others
            reason = report_failure(uri, error)
            self.remarks.append(f"{uri}: not read for its symbols: {reason}")
            return None
        if facts is None:
            reason = "too long, or too unlike its language, to be read for its symbols"
            self.remarks.append(f"{uri}: {reason}")
        return facts

    def _parse_again(self, uri: str) -> FileFacts | None:
        facts = self._parse(uri)
        if facts is not None:
            self._new_data[FILE_OWNER + uri] = encode_facts(facts)
        return facts

    def _stored_facts(self, uri: str) -> FileFacts | None:
        data = self.stored_data.get(FILE_OWNER + uri)
        return None if data is None else decode_facts(data)

    def _is_visible_change(self, uris: Iterable[str]) -> bool:
        """Return whether files that did not change can see a change of these files."""
        return any(self._has_new_interface(uri) for uri in uris)

    def _has_new_interface(self, uri: str) -> bool:
        """Return whether other files can see the change of this file."""
        if not language_of(uri):
            return _is_manifest(uri)
        before = self._stored_facts(uri)
        now = self._facts.get(uri)
        if before is None or now is None:
            return before is not now
        return interface(before) != interface(now)


def _is_manifest(uri: str) -> bool:
    return uri.rpartition("/")[2] in MANIFESTS
