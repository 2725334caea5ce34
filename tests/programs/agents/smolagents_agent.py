"""smolagents: a tool-calling agent with an MCP server over stdio, and a collection as a model."""

import json
import sys
from importlib.metadata import version

from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

model_url, ragfile_url, question, python, file = sys.argv[1:6]


def model(url, name):
    return OpenAIServerModel(name, api_base=f"{url}/v1", api_key="none")


server = StdioServerParameters(command=python, args=["-m", "ragfile", "mcp", file])
with MCPClient(server, structured_output=False) as tools:
    agent = ToolCallingAgent(tools=tools, model=model(model_url, "m"), verbosity_level=0)
    by_tool = agent.run(question)
message = {"role": "user", "content": [{"type": "text", "text": question}]}
told = {
    "version": version("smolagents"),
    "by_tool": by_tool,
    "by_collection": model(ragfile_url, "kb").generate([message]).content,
}
print(json.dumps(told))
