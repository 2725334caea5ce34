"""A model that calls a search tool once and answers from its result, over OpenAI's protocol.

It speaks the ways in which agents offer tools: function calls, DSPy's fields and the ReAct text of
CrewAI. It knows the fact only if a tool's result has it.
"""

import json

from servers import chat_servers

QUESTION = "How often are keys rotated?"
ARGUMENTS = {"query": QUESTION, "k": 3, "where": {}, "tokens": 2000, "generation": 0}
FACT, FOUND, NOTHING = "90 days", "Every 90 days, says keys.md.", "Nothing was found."
FIELD = "[[ ## {} ## ]]\n{}\n\n"


class Server(chat_servers.Server):
    """Answers `/v1/chat/completions` as such a model; `rounds` counts its answers."""

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = Handler
        self.rounds = 0


class Handler(chat_servers.Handler):
    def openai(self, question):
        self.server.rounds += 1
        choice = {"index": 0, "finish_reason": "stop", "message": answered(question)}
        if choice["message"].get("tool_calls"):
            choice["finish_reason"] = "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        common = {"id": "chatcmpl-1", "created": 1, "model": question["model"]}
        done = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
        return self.whole(200, done)


def answered(question):
    """Return the message of the model for a request."""
    said = "\n".join(text_of(message) for message in question["messages"])
    found, tools = FACT in said, [one["function"] for one in question.get("tools") or ()]
    if tools:
        return called({one["name"]: one["parameters"] for one in tools}, found)
    if "next_tool_name" in said:
        return content(in_fields(said, found))
    if FIELD.partition("\n")[0].format("answer") in said:
        return content(written({"reasoning": "I read it.", "answer": FOUND if found else NOTHING}))
    if "Action Input:" in said:
        return content(in_react_text(found))
    return content(FOUND if found else NOTHING)


def text_of(message):
    given = message.get("content") or ""
    return given if isinstance(given, str) else "\n".join(part.get("text", "") for part in given)


def content(text):
    return {"role": "assistant", "content": text}


def called(tools, found):
    """Call the search tool with all arguments that it requires, or give the final answer."""
    if not found:
        name, parameters = next(each for each in tools.items() if "search" in each[0])
        return calls(name, {known: ARGUMENTS[known] for known in parameters["required"]})
    return calls("final_answer", {"answer": FOUND}) if "final_answer" in tools else content(FOUND)


def calls(name, arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def in_fields(said, found):
    """Answer in the fields of DSPy's chat adapter: a step of ReAct."""
    name, arguments = ("finish", {}) if found else ("search", {"query": QUESTION})
    fields = {
        "next_thought": "I look.",
        "next_tool_name": name,
        "next_tool_args": json.dumps(arguments),
    }
    return written(fields)


def written(fields):
    return "".join(FIELD.format(*field) for field in fields.items()) + "[[ ## completed ## ]]"


def in_react_text(found):
    if found:
        return f"Thought: I now know the final answer\nFinal Answer: {FOUND}"
    return f"Thought: I look.\nAction: search\nAction Input: {json.dumps({'query': QUESTION})}"
