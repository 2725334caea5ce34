"""Annotations that resolve at run time without loading their modules at import.

A program that reads annotations at run time (FastAPI, pydantic, typing.get_type_hints) must find each
name in the module that uses it. A module that would be slow to import is deferred like this:

    if TYPE_CHECKING:
        from ragfile.answer.answers import Answer
    else:
        Answer = deferred("ragfile.answer.answers", "Answer")
"""

from importlib import import_module
from typing import ForwardRef


def deferred(module: str, name: str) -> ForwardRef:
    """Return a reference that imports its module when an annotation is resolved."""
    return ForwardRef(f"import_module({module!r}).{name}", module=import_module.__module__)
