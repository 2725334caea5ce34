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
    with pytest.raises(ValueError, match="k is from 1 to 50, not 51"):
        asked_file.as_tool().call("waa", k=51)


def test_a_caller_narrows_the_tools_own_filter_and_never_widens_it(asked_file):
    fixed, mine = {"year": {"$gte": 2005}}, {"lang": "en"}
    _, call = asked_file.as_tool(mode="bm25", where=fixed)
    both = {"$and": [fixed, mine]}
    expected = [hit.id for hit in asked_file.search("waa wab", 9, mode="bm25", where=both)]
    assert [one["id"] for one in call("waa wab", k=9, where=mine)] == expected
    assert not {one["id"] for one in call("waa", k=50, where={"year": {"$lt": 2005}})}
    schema, call = asked_file.as_tool(mode="bm25", where=[0, 1, 2])
    assert "where" not in schema["function"]["parameters"]["properties"]
    with pytest.raises(ValueError, match="takes no where="):
        call("waa", where={"lang": "en"})
