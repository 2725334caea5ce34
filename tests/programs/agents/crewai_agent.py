"""CrewAI: an agent with the tools of an MCP server over stdio, and one whose model is a collection."""

import json
import sys
from importlib.metadata import version

from crewai import LLM, Agent
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters

model_url, ragfile_url, question, python, file = sys.argv[1:6]
ROLE = {"role": "Librarian", "goal": "Answer from the handbook.", "backstory": "You read it."}


def model(url, name):
    return LLM(model=f"openai/{name}", base_url=f"{url}/v1", api_key="none")


server = StdioServerParameters(command=python, args=["-m", "ragfile", "mcp", file])
with MCPServerAdapter(server) as tools:
    by_tool = Agent(**ROLE, llm=model(model_url, "m"), tools=list(tools)).kickoff(question).raw
told = {
    "version": version("crewai"),
    "by_tool": by_tool,
    "by_collection": Agent(**ROLE, llm=model(ragfile_url, "kb")).kickoff(question).raw,
}
print(json.dumps(told))
