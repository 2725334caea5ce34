"""Pydantic AI: an agent with the MCP server of a URL, and one whose model is a collection."""

import json
import sys
from importlib.metadata import version

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model_url, ragfile_url, question = sys.argv[1:4]


def model(url, name):
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=f"{url}/v1", api_key="none"))


searching = Agent(model(model_url, "m"), toolsets=[MCPToolset(f"{ragfile_url}/mcp")])
answering = Agent(model(ragfile_url, "kb"))
told = {
    "version": version("pydantic-ai-slim"),
    "by_tool": searching.run_sync(question).output,
    "by_collection": answering.run_sync(question).output,
}
print(json.dumps(told))
