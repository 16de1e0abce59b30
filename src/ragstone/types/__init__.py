"""The types that several packages share. All classes are frozen.

The types of the write and search paths are imported at once. The others are imported on first use: a cold search does
not need them, and creating their classes takes about 40 ms.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ragstone.types.access import NO_LIMITS as NO_LIMITS
from ragstone.types.access import Limits as Limits
from ragstone.types.access import SearchStats as SearchStats
from ragstone.types.access import StoredKey as StoredKey
from ragstone.types.access import Usage as Usage
from ragstone.types.documents import SUMMARY_PREFIX as SUMMARY_PREFIX
from ragstone.types.documents import AddOptions as AddOptions
from ragstone.types.documents import Chunk as Chunk
from ragstone.types.documents import Document as Document
from ragstone.types.documents import FileContent as FileContent
from ragstone.types.documents import Item as Item
from ragstone.types.documents import LoadedItem as LoadedItem
from ragstone.types.documents import Mark as Mark
from ragstone.types.documents import Metadata as Metadata
from ragstone.types.documents import OcrLimits as OcrLimits
from ragstone.types.documents import Role as Role
from ragstone.types.documents import Scalar as Scalar
from ragstone.types.documents import Skip as Skip
from ragstone.types.documents import Slice as Slice
from ragstone.types.documents import Span as Span
from ragstone.types.documents import Stamp as Stamp
from ragstone.types.documents import Symbol as Symbol
from ragstone.types.documents import Value as Value
from ragstone.types.documents import cite_slices as cite_slices
from ragstone.types.documents import embedding_text as embedding_text
from ragstone.types.reports import AddReport as AddReport
from ragstone.types.reports import BackgroundStatus as BackgroundStatus
from ragstone.types.reports import Finding as Finding
from ragstone.types.reports import FolderLedger as FolderLedger
from ragstone.types.reports import GraphReport as GraphReport
from ragstone.types.reports import IncomingFile as IncomingFile
from ragstone.types.reports import Job as Job
from ragstone.types.reports import JobRequest as JobRequest
from ragstone.types.reports import JobState as JobState
from ragstone.types.reports import MoveReport as MoveReport
from ragstone.types.reports import ProjectOverview as ProjectOverview
from ragstone.types.reports import SharedStatus as SharedStatus
from ragstone.types.reports import SizePoint as SizePoint
from ragstone.types.reports import Status as Status
from ragstone.types.reports import SyncPlan as SyncPlan
from ragstone.types.reports import SyncReport as SyncReport
from ragstone.types.reports import WatchStatus as WatchStatus
from ragstone.types.search import Condition as Condition
from ragstone.types.search import Dropped as Dropped
from ragstone.types.search import Explanation as Explanation
from ragstone.types.search import Filter as Filter
from ragstone.types.search import Freshness as Freshness
from ragstone.types.search import Fusion as Fusion
from ragstone.types.search import Hit as Hit
from ragstone.types.search import ListTrace as ListTrace
from ragstone.types.search import Mode as Mode
from ragstone.types.search import Operator as Operator
from ragstone.types.search import PathStep as PathStep
from ragstone.types.search import RemotePassage as RemotePassage
from ragstone.types.search import Request as Request
from ragstone.types.search import SearchOptions as SearchOptions
from ragstone.types.search import Trace as Trace
from ragstone.types.storage import BY_URI as BY_URI
from ragstone.types.storage import DEFAULT_STORAGE as DEFAULT_STORAGE
from ragstone.types.storage import ChunkOutline as ChunkOutline
from ragstone.types.storage import Collection as Collection
from ragstone.types.storage import CollectionKey as CollectionKey
from ragstone.types.storage import CollectionKind as CollectionKind
from ragstone.types.storage import CollectionState as CollectionState
from ragstone.types.storage import CollectionStateChanges as CollectionStateChanges
from ragstone.types.storage import DocumentColumn as DocumentColumn
from ragstone.types.storage import DocumentOrder as DocumentOrder
from ragstone.types.storage import EmbedUsage as EmbedUsage
from ragstone.types.storage import KnownFile as KnownFile
from ragstone.types.storage import PendingText as PendingText
from ragstone.types.storage import PreparedDocument as PreparedDocument
from ragstone.types.storage import PutResult as PutResult
from ragstone.types.storage import RequestSize as RequestSize
from ragstone.types.storage import Scope as Scope
from ragstone.types.storage import Scored as Scored
from ragstone.types.storage import SessionState as SessionState
from ragstone.types.storage import SessionStateChanges as SessionStateChanges
from ragstone.types.storage import Space as Space
from ragstone.types.storage import SpaceInfo as SpaceInfo
from ragstone.types.storage import SpaceState as SpaceState
from ragstone.types.storage import StoredChunk as StoredChunk
from ragstone.types.storage import StoredDocument as StoredDocument
from ragstone.types.storage import StoreSettings as StoreSettings
from ragstone.types.storage import UnreadFile as UnreadFile
from ragstone.types.storage import UnreadFiles as UnreadFiles
from ragstone.types.storage import VectorRow as VectorRow

if TYPE_CHECKING:
    from ragstone.types.agents import Agent as Agent
    from ragstone.types.agents import AgentPrompt as AgentPrompt
    from ragstone.types.agents import Strategy as Strategy
    from ragstone.types.ask import Quote as Quote
    from ragstone.types.ask import Spoken as Spoken
    from ragstone.types.code import Binding as Binding
    from ragstone.types.code import FileFacts as FileFacts
    from ragstone.types.code import Import as Import
    from ragstone.types.code import Reference as Reference
    from ragstone.types.context import Cited as Cited
    from ragstone.types.context import Context as Context
    from ragstone.types.context import ContextFormat as ContextFormat
    from ragstone.types.context import ContextOptions as ContextOptions
    from ragstone.types.context import LeftOut as LeftOut
    from ragstone.types.graph import CONFIDENCES as CONFIDENCES
    from ragstone.types.graph import Affected as Affected
    from ragstone.types.graph import Alias as Alias
    from ragstone.types.graph import Change as Change
    from ragstone.types.graph import Commit as Commit
    from ragstone.types.graph import Confidence as Confidence
    from ragstone.types.graph import Graph as Graph
    from ragstone.types.graph import GraphAnswer as GraphAnswer
    from ragstone.types.graph import Impact as Impact
    from ragstone.types.graph import Json as Json
    from ragstone.types.graph import Link as Link
    from ragstone.types.graph import Node as Node
    from ragstone.types.graph import Related as Related
    from ragstone.types.graph import Rendered as Rendered
    from ragstone.types.graph import Step as Step
    from ragstone.types.graph import Story as Story
    from ragstone.types.graph import Unresolved as Unresolved
    from ragstone.types.graph import Walked as Walked
    from ragstone.types.graph import weakest_confidence as weakest_confidence
    from ragstone.types.matrices import Matrix as Matrix
    from ragstone.types.memory import Recalled as Recalled
    from ragstone.types.memory import Turn as Turn
    from ragstone.types.memory import TurnOptions as TurnOptions
    from ragstone.types.retrieval import CodeAnswer as CodeAnswer
    from ragstone.types.retrieval import CodeGuess as CodeGuess
    from ragstone.types.retrieval import Retrieval as Retrieval
    from ragstone.types.retrieval import RetrieveLimits as RetrieveLimits

_LAZY = {
    "agents": "Agent AgentPrompt Strategy",
    "ask": "Quote Spoken",
    "code": "Binding FileFacts Import Reference",
    "context": "Cited Context ContextFormat ContextOptions LeftOut",
    "graph": (
        "CONFIDENCES Affected Alias Change Commit Confidence Graph GraphAnswer Impact Json "
        "Link Node Related Rendered Step Story Unresolved Walked weakest_confidence"
    ),
    "matrices": "Matrix",
    "memory": "Recalled Turn TurnOptions",
    "retrieval": "CodeAnswer CodeGuess Retrieval RetrieveLimits",
}
_MODULE_OF = {name: module for module, names in _LAZY.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Return a type that is imported on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, the lazy ones included."""
    return sorted({*globals(), *_MODULE_OF})
