"""How words are made in a file that has none yet: noted in its configuration, as no index says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import VersionError
from ragfile.ingest.analysis import Analysis

if TYPE_CHECKING:
    from typing import Any

DEFAULT = Analysis()


def analysis_record(analysis: Analysis | None) -> dict[str, Any]:
    """What a file without rows keeps of the choice: nothing of the usual one."""
    if analysis is None or analysis == DEFAULT:
        return {}
    words = analysis.record(_core.unicode_version())
    return {"analysis": {"words": words, "k1": analysis.k1, "b": analysis.b}}


def noted_analysis(config: dict[str, Any]) -> Analysis:
    """The choice that a file without rows keeps."""
    said = config.get("analysis")
    if said is None:
        return DEFAULT
    try:
        return Analysis.recorded(said["words"], said["k1"], said["b"])
    except ValueError as error:
        raise VersionError(f"rag.config: {error}") from None
