"""The verbs around the agents of other tools: which there are, their documents kept indexed, what they are told."""

from __future__ import annotations

from typing import Self

from ragstone import types
from ragstone.engine import later
from ragstone.engine.ground import OFF
from ragstone.engine.tending import Tending
from ragstone.engine.writing import Writing
from ragstone.errors import ConfigError, InputError, NotFound, ProviderError
from ragstone.protocols import Progress
from ragstone.types import Item, Skip

NO_DOCS = "agents.yaml gives it no docs"


class Staffing(Writing, Tending):
    """The part of an engine that agents meet. An agent's documents are an engine of their own beside this one."""

    def agents(self) -> list[types.Agent]:
        """Return the agents that `agents.yaml` names, by name."""
        return sorted(self._staff().agents.values(), key=lambda agent: agent.name)

    def agent(self, name: str) -> Self:
        """Return an engine over an agent's documents alone: search it, ask it for a context. Closed with this one."""
        staff = self._staff()
        known = self._named(name, staff)
        if not known.sources:
            raise NotFound(f"the agent {name!r} has no documents: {NO_DOCS}", hint="give it `docs` with `sources`")
        settings = staff.settings(known, self.settings)
        held = self._views.get(name)
        if held is None or held.settings != settings:
            if held is not None:
                held.close()
            held = type(self)(self.folder, settings, project=self.project, agent=name, events=self.events)
            self._views[name] = held
        return held

    def ensure_index(
        self, agent: str, *, embed: bool | float = True, progress: Progress | None = None
    ) -> types.SyncReport | None:
        """Make an agent's index match its files and return the ledger; None where nothing had changed."""
        if not self._named(agent, self._staff()).sources or not self.enabled:
            return None
        corpus = self.agent(agent)
        report = corpus.refresh(embed=embed, progress=progress)
        # A refresh leaves given documents alone, and an earlier start may have been stopped before its last vector.
        if report is None and (corpus.last_sync() is None or (embed and corpus.lacks_vectors())):
            report = corpus.sync(embed=embed, progress=progress)
        return report

    def agent_prompt(self, agent: str, *, budget: int | None = None) -> types.AgentPrompt:
        """Return what an agent's prompt is given of its documents: a hint and a tool, or the files themselves."""
        from ragstone.engine.corpus import HINT, TOOL
        from ragstone.text.tokens import at_most

        known = self._named(agent, self._staff())
        room = known.budget if budget is None else budget
        if not isinstance(room, int) or isinstance(room, bool) or room < 1:
            raise InputError("budget is a number of tokens, from 1 on", hint="budget=12000")
        if not known.sources:
            return types.AgentPrompt(agent, known.strategy, "", 0, room, notes=(NO_DOCS,))
        if known.strategy == "preload":
            return self._preloaded(known, room)
        missing = self._missing()
        if missing:
            return self._preloaded(known, room, f"rag is not possible, the files are given whole instead: {missing}")
        return types.AgentPrompt(agent, "rag", HINT, at_most(HINT), room, tool=TOOL)

    def _preloaded(self, agent: types.Agent, budget: int, *notes: str) -> types.AgentPrompt:
        """Return the prompt with whole files in it; they are read as a sync reads them, and not stored."""
        from ragstone.engine.corpus import in_order
        from ragstone.indexing.chunking_config import ChunkingConfig
        from ragstone.indexing.prepare import ItemPreparer
        from ragstone.retrieval.context.preload import preload

        corpus = self.agent(agent.name)
        source, rag = corpus.source(), corpus.settings.rag
        redact = corpus.settings.sources.secrets == "redact"
        chunking = ChunkingConfig(rag.chunker, rag.chunk_size, rag.chunk_overlap, redact_secrets=redact)
        preparer = ItemPreparer(source, chunking)
        found = list(source.scan())
        items = {one.uri: one for one in in_order((one for one in found if isinstance(one, Item)), agent.sources)}
        left_out = [one for one in found if isinstance(one, Skip)]

        def read(uri: str) -> str | None:
            outcome = preparer.prepare_item(items[uri])
            if outcome.prepared is not None:
                return outcome.prepared.document.text
            left_out.append(Skip(uri, outcome.reason or "no text"))
            return None

        made = preload(items, read, budget)
        if not made.text:
            notes = (*notes, "no file of its sources has any text" if not made.left_out else _too_small(budget))
        left_out += made.left_out
        files = tuple(made.files)
        return types.AgentPrompt(
            agent.name, "preload", made.text, made.tokens, budget, files, tuple(left_out), notes=notes
        )

    def _missing(self) -> str:
        """Return why nothing can be searched by meaning; nothing where it can."""
        if not self.enabled:
            return OFF
        try:
            self._parts.embedder(self.settings.rag.embedding_provider)
        except (ConfigError, ProviderError) as error:
            return str(error)
        return ""

    def lacks_vectors(self) -> bool:
        """Return whether a text that is stored waits for a vector."""
        store = self._parts.store
        spaces = [info for info in store.vectors.spaces(self._parts.scope()) if info.state == "active"]
        lacking = not spaces or any(info.texts > info.embedded for info in spaces)
        return lacking and any(one.chunks for one in self._parts.collections())

    def _staff(self) -> later.AgentsFile:
        from ragstone.config.agents import load_agents

        return load_agents(self.settings)

    def _named(self, name: object, staff: later.AgentsFile) -> types.Agent:
        if name not in staff.agents:
            known = ", ".join(sorted(staff.agents)) or "none: agents.yaml in the folder names them"
            raise NotFound(f"there is no agent {name!r}", hint=f"there are {known}")
        return staff.agents[str(name)]


def _too_small(budget: int) -> str:
    return f"a budget of {budget} tokens is too small for any of its files"
