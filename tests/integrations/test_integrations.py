"""Each adapter with its library, as in the library's own quick start."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.errors import MissingExtra

TEXT = "The gondola crosses the lagoon at nine."


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("gondola.md", TEXT, metadata={"team": "canal"}))
        engine.add(Document("ferry.md", "The ferry leaves from the north quay."))
        yield engine


def test_langchain_retrieves_and_chains(engine: Engine) -> None:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from ragstone.integrations.langchain import RagstoneRetriever

    retriever = RagstoneRetriever(engine=engine, top_k=1, options={"mode": "words"})
    found = retriever.invoke("when does the gondola cross")
    assert [document.page_content for document in found] == [TEXT]
    assert found[0].metadata["citation"] == "gondola.md:1"
    assert found[0].metadata["team"] == "canal"
    assert [document.id for document in asyncio.run(retriever.ainvoke("gondola"))] == [
        found[0].id
    ]

    def echo(prompt: Any) -> str:  # noqa: ANN401 - stands where a chat model would
        return str(prompt.to_string())

    prompt = ChatPromptTemplate.from_template("Answer from {context}: {question}")
    context = retriever | (
        lambda documents: "\n".join(document.page_content for document in documents)
    )
    chain = (
        {"context": context, "question": RunnablePassthrough()}
        | prompt
        | RunnableLambda(echo)
        | StrOutputParser()
    )
    assert TEXT in chain.invoke("gondola")


def test_llama_index_retrieves_and_answers(engine: Engine) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from ragstone.integrations.llama_index import RagstoneRetriever

    retriever = RagstoneRetriever(engine, 1, mode="words")
    found = retriever.retrieve("when does the gondola cross")
    assert [node.text for node in found] == [TEXT]
    assert found[0].metadata["citation"] == "gondola.md:1"
    assert found[0].score is not None
    answered = RetrieverQueryEngine.from_args(retriever, llm=MockLLM()).query("gondola")
    assert TEXT in str(answered)
    assert [node.text for node in answered.source_nodes] == [TEXT]


def test_pydantic_ai_calls_the_tools(engine: Engine) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from ragstone.integrations.pydantic_ai import tools

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} >= {"rag_search", "rag_context"}
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if returned:
            return ModelResponse(parts=[TextPart(str(returned[0].content))])
        return ModelResponse(parts=[ToolCallPart("rag_search", {"query": "gondola"})])

    agent = Agent(FunctionModel(model), tools=tools(engine))
    output = agent.run_sync("when does the gondola cross?").output
    assert output.startswith("--- Result 1 (score: ")
    assert TEXT in output


def test_the_openai_agents_sdk_calls_the_tools(engine: Engine) -> None:
    from agents import (
        Agent,
        Model,
        ModelResponse,
        RunConfig,
        Runner,
        Usage,
        set_tracing_disabled,
    )
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    from ragstone.integrations.openai_agents import tools

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(
            self, system_instructions: object, input: Sequence[object], *rest: Any, **more: Any
        ) -> ModelResponse:
            outputs = [
                item
                for item in input
                if isinstance(item, dict) and item.get("type") == "function_call_output"
            ]
            output_item: Any
            if outputs:
                text = ResponseOutputText(
                    annotations=[], text=str(outputs[0]["output"]), type="output_text"
                )
                output_item = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            else:
                output_item = ResponseFunctionToolCall(
                    arguments=json.dumps({"query": "gondola"}),
                    call_id="c",
                    name="rag_search",
                    type="function_call",
                )
            return ModelResponse(output=[output_item], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
            raise NotImplementedError

    agent = Agent(name="guide", model=Scripted(), tools=[*tools(engine)])
    done = asyncio.run(
        Runner.run(
            agent, "when does the gondola cross?", run_config=RunConfig(tracing_disabled=True)
        )
    )
    assert str(done.final_output).startswith("--- Result 1 (score: ")
    assert TEXT in str(done.final_output)


def test_wrong_json_from_a_model_gets_an_explanation(engine: Engine) -> None:
    from ragstone.integrations.openai_agents import tools

    search = tools(engine)[0]
    for arguments, words in (
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ("{}", "needs 'query'"),
    ):
        assert words in asyncio.run(search.on_invoke_tool(None, arguments))  # type: ignore[arg-type]  # not looked at


@pytest.mark.parametrize("name", ["langchain", "llama_index", "pydantic_ai", "openai_agents"])
def test_without_its_library_an_adapter_names_the_extra_to_install(name: str) -> None:
    package = {
        "langchain": "langchain_core",
        "llama_index": "llama_index",
        "openai_agents": "agents",
    }.get(name, name)
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"try:\n    import ragstone.integrations.{name}\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{MissingExtra.__name__} ")
    assert "pip install 'ragstone[" in done.stdout
