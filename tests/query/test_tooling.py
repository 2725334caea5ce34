"""A search as a tool: the schema says what the function takes, and the function answers as a search does."""

import json

import pytest


def test_a_tool_answers_as_a_search_does(asked_file):
    schema, call = asked_file.as_tool(k=3, mode="bm25")
    assert schema["type"] == "function"
    hits = asked_file.search("waa wab", 3, mode="bm25")
    assert [one["id"] for one in call("waa wab")] == [hit.id for hit in hits]
    assert [one["text"] for one in call(query="waa wab", k=1)] == [hits[0].text]
    where = {"year": {"$gte": 2006}}
    assert call("waa", where=where) == json.loads(json.dumps(call("waa", where=where)))


def test_the_schema_names_every_argument(asked_file):
    tool = asked_file.as_tool(name="find_it", description="Looks things up.")
    function = tool.schema["function"]
    assert (function["name"], function["description"]) == ("find_it", "Looks things up.")
    assert tool.call.__name__ == "find_it"
    parameters = function["parameters"]
    assert set(parameters["properties"]) == {"query", "k", "where"}
    assert parameters["required"] == ["query"]
    json.dumps(tool.schema)


def test_a_number_that_the_schema_does_not_allow_is_refused(asked_file):
    with pytest.raises(ValueError, match="between 1 and 50"):
        asked_file.as_tool().call("waa", k=51)
