"""Agno: an agent with an MCP server over stdio, and one whose model is a collection."""

import asyncio
import json
import shlex
import sys
from importlib.metadata import version

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from agno.tools.mcp import MCPTools

model_url, ragfile_url, question, python, file = sys.argv[1:6]


def model(url, name):
    return OpenAILike(id=name, base_url=f"{url}/v1", api_key="none")


async def searched():
    command = shlex.join([python, "-m", "ragfile", "mcp", file])
    async with MCPTools(command) as tools:
        return (await Agent(model=model(model_url, "m"), tools=[tools]).arun(question)).content


told = {
    "version": version("agno"),
    "by_tool": asyncio.run(searched()),
    "by_collection": Agent(model=model(ragfile_url, "kb")).run(question).content,
}
print(json.dumps(told))
