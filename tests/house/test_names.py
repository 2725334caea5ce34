"""A class name means one thing in the package and its compiled core; modules are named by nouns."""

import re
from collections import defaultdict

from places import ROOT

PACKAGE = ROOT / "ragfile"
CLASS = re.compile(r"^(?:cdef |    )?class (\w+)[^\n]*:", re.MULTILINE)
NOUNS = {"embedding"}  # modules whose name ends like a participle and is a noun


def sources():
    """Modules of the package and parts of the core. Adapters bear the names of other programs."""
    for suffix in (".py", ".pyx", ".pxi"):
        for path in sorted(PACKAGE.rglob(f"*{suffix}")):
            if path.relative_to(PACKAGE).parts[0] != "adapters":
                yield path


def test_a_class_name_means_one_thing():
    homes = defaultdict(set)
    for path in sources():
        for name in CLASS.findall(path.read_text()):
            homes[name.lstrip("_")].add(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def modules():
    """The parts of the dotted names of all modules."""
    paths = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")]
    return {part for path in paths for part in path.parts}


def test_modules_are_named_by_nouns():
    assert {name for name in modules() if re.search(r"(ing|ed)$", name)} - NOUNS == set()


def test_no_module_has_a_name_that_says_nothing():
    empty = "utils helpers common misc manager service factory handler base impl engine context"
    assert modules() & set(empty.split()) == set()
