"""The bodies of requests. An unknown field is refused, so that a misspelt option is not ignored."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from ragstone.config.validation import (
    HIT_RANGE,
    SCORE_RANGE,
    TOKEN_RANGE,
    NumberRange,
    check_number,
)
from ragstone.engine.arguments import check_moments
from ragstone.memory.turns import ROLES
from ragstone.surfaces.present import Json

_MAX_TOKENS: Final = 10_000_000


def _checked(allowed: NumberRange, value: object, info: ValidationInfo) -> object:
    """Return a number in a range; `InputError` is the same as for the other surfaces."""
    if isinstance(value, float) and value.is_integer() and allowed.values.kind is int:
        value = int(value)  # JSON does not tell 5.0 from 5
    if value is not None:
        check_number(info.field_name or "the number", value, allowed)
    return value


def _checked_moment(value: object, info: ValidationInfo) -> object:
    check_moments(**{info.field_name or "the time": value})
    return value


Hits = Annotated[int, Field(ge=0), BeforeValidator(partial(_checked, HIT_RANGE))]
Score = Annotated[float, Field(ge=0, le=1), BeforeValidator(partial(_checked, SCORE_RANGE))]
Tokens = Annotated[
    int, Field(ge=1, le=_MAX_TOKENS), BeforeValidator(partial(_checked, TOKEN_RANGE))
]
Moment = Annotated[float, BeforeValidator(_checked_moment)]


class Body(BaseModel):
    """The base of all bodies."""

    model_config = ConfigDict(extra="forbid")


class CollectionBody(Body):
    """A new collection."""

    name: str = Field(min_length=1, max_length=512, examples=["handbook"])
    description: str = ""
    embedding_provider: str | None = Field(
        None, description="Another embedder than the server's: `provider` or `provider:model`."
    )
    chunker: str | None = None
    chunk_size: int | None = Field(None, ge=1, description="In characters.")
    chunk_overlap: int | None = Field(None, ge=0, description="In characters.")
    max_tokens: int | None = Field(None, ge=1)
    overlap_tokens: int | None = Field(None, ge=0)


class DocumentBody(Body):
    """A text to store."""

    content: str = Field(examples=["The office opens at nine."])
    source_doc_id: str = Field(min_length=1, examples=["handbook/office.md"])
    metadata: Json = Field(default_factory=dict)
    kind: str = "text"
    language: str = ""
    title: str = ""


class DocumentsBody(Body):
    """Texts to store in one call."""

    documents: list[DocumentBody] = Field(max_length=10_000)
    collection: str | None = None
    embed: bool = True


class SearchOptionsBody(Body):
    """The options of a search; those of `Engine.search`."""

    hybrid: bool = True
    mode: Literal["hybrid", "words", "vectors"] | None = None
    fusion: Literal["weighted", "rrf"] | None = None
    mmr: bool = False
    rerank: str | None = None
    embedder: str | None = Field(
        None, description="Only the vectors of this embedder: `provider` or `provider:model`."
    )
    filters: dict[str, object] | None = None
    min_score: Score | None = None
    compress: bool = False
    compress_results: bool = Field(False, description="The same as `compress`.")
    merge: bool = True
    fresh: bool = True
    collection: str | list[str] | None = Field(
        None, description="Only these collections; all of the project if left out."
    )
    memory: bool | str | list[str] = Field(
        False, description="Also search all conversations, or those with these names."
    )

    def options(self) -> Json:
        """Return the options of `Engine.search`; a field that the request leaves out is left out."""
        names = SearchOptionsBody.model_fields.keys() - {"compress_results"}
        options = self.model_dump(include=names, exclude_unset=True)
        if self.compress_results:
            options["compress"] = True
        return options


class SearchBody(SearchOptionsBody):
    """A search."""

    query: str = Field(examples=["when does the office open"])
    top_k: Hits | None = None


class ContextBody(SearchOptionsBody):
    """A context for a prompt."""

    task: str = Field(examples=["change the opening hours"])
    budget: Tokens = Field(1500, description="Tokens at most.")
    token_budget: Tokens | None = Field(None, description="Another name of `budget`.")
    project_id: str | None = Field(None, description="The caller's own project.")
    format: Literal["block", "markdown", "tool", "documents", "json"] = "block"
    window: Tokens | None = None
    session: str | None = None
    top_k: Hits | None = None
    rag_enabled: bool = True

    @property
    def tokens(self) -> int:
        """Return the budget by either of its names."""
        return self.budget if self.token_budget is None else self.token_budget

    @model_validator(mode="after")
    def _check_budget(self) -> ContextBody:
        if self.token_budget is not None and "budget" in self.model_fields_set:
            raise ValueError("budget and token_budget are the same: give one of them")
        return self


class InjectBody(Body):
    """A prompt to put retrieved context behind."""

    prompt_markdown: str
    user_message: str
    budget: Tokens = 1500


class RetrieveBody(Body):
    """A question about code."""

    query: str = Field(examples=["which table does the route stones.update write?"])
    top_k: Hits = 12
    source_types: list[str] | None = None
    must_include_paths: list[str] = Field(default_factory=list)
    route_name: str | None = None
    controller_class: str | None = None
    table_name: str | None = None
    include_run_summaries: bool = True
    min_score: Score = 0.25
    collection: str | list[str] | None = None

    def hints(self) -> dict[str, str]:
        """Return the names that the question is about."""
        names = {"route_name", "controller_class", "table_name"}
        return self.model_dump(include=names, exclude_none=True)


class TurnBody(Body):
    """A message of a conversation."""

    role: str = Field(min_length=1, description=f"The role: {ROLES}.", examples=["user"])
    content: str = Field(examples=["We deploy on Tuesdays."])
    at: float | None = Field(None, description="Seconds since 1970; now if left out.")
    speaker: str = ""
    metadata: Json = Field(default_factory=dict)


class RecallBody(Body):
    """A search in a conversation."""

    query: str = Field(examples=["when do we deploy"])
    top_k: Hits = 5
    since: Moment | None = None
    until: Moment | None = None


class SessionTurnBody(TurnBody):
    """A message of a conversation that the body names."""

    session_id: str = Field(min_length=1)


class SessionRecallBody(RecallBody):
    """A search in a conversation that the body names."""

    session_id: str = Field(min_length=1)


class RemoveBody(Body):
    """Documents to remove: by uri, or by ids of documents or chunks."""

    uri: str | None = None
    ids: list[str] | None = None
    collection: str | None = None


class ChangeBody(Body):
    """A file that a run changed."""

    path: str
    action: str = Field("modified", examples=["created", "modified", "deleted"])
    summary: str = ""
    symbols: list[str] = Field(default_factory=list)


class RunBody(Body):
    """The run of an agent."""

    run_id: str = Field(min_length=1)
    summary: str
    changes: list[ChangeBody] = Field(default_factory=list)
    at: float | None = None
    collection: str | None = None


class SyncBody(Body):
    """A sync of the folder, or of some paths in it."""

    paths: list[str] | None = None
    full: bool = False
    collection: str | None = None
    embed: bool = True


class FileEvent(Body):
    """A change of a file in the folder."""

    event: Literal["created", "updated", "deleted"]
    path: str = Field(min_length=1)


class FileEventsBody(Body):
    """Changes of files in the folder."""

    events: list[FileEvent] = Field(min_length=1, max_length=10_000)


class KeyBody(Body):
    """A new key."""

    name: str = Field("", max_length=200)
    scopes: list[Literal["read", "write", "admin"]] = Field(["read", "write"], min_length=1)
    expires_in_days: float | None = Field(None, gt=0, le=36_500)
