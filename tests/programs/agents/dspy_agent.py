"""DSPy: ReAct with the tools of an MCP server over stdio, and a collection as a language model."""

import asyncio
import json
import sys
from importlib.metadata import version

import dspy
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

model_url, ragfile_url, question, python, file = sys.argv[1:6]


def model(url, name):
    return dspy.LM(f"openai/{name}", api_base=f"{url}/v1", api_key="none", cache=False)


async def searched():
    server = StdioServerParameters(command=python, args=["-m", "ragfile", "mcp", file])
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        listed = (await session.list_tools()).tools
        tools = [dspy.Tool.from_mcp_tool(session, tool) for tool in listed]
        with dspy.context(lm=model(model_url, "m")):
            return (
                await dspy.ReAct("question -> answer", tools=tools).acall(question=question)
            ).answer


told = {
    "version": version("dspy"),
    "by_tool": asyncio.run(searched()),
    "by_collection": model(ragfile_url, "kb")(question)[0],
}
print(json.dumps(told))
