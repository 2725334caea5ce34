"""The BM25 options of a file without rows, kept in its configuration as there is no index yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import VersionError
from ragfile.ingest.analysis import PAGE_FIELDS, Analysis

if TYPE_CHECKING:
    from typing import Any

# Of a file without rows that records none.
UNRECORDED = Analysis(accents="keep", positions=False, languages=False, clusters=False)
# Of new files. A title from front matter is only in the header path, which BM25 therefore reads.
PAGES = Analysis(fields=PAGE_FIELDS)


def analysis_record(analysis: Analysis | None) -> dict[str, Any]:
    """Return the configuration entry of an analysis, empty for the one that needs none."""
    if analysis is None or (analysis == UNRECORDED and not analysis.positions):
        return {}
    words = analysis.record(_core.unicode_version())
    return {"analysis": {"words": words, "k1": analysis.k1, "b": analysis.b}}


def noted_analysis(config: dict[str, Any]) -> Analysis:
    """Return the analysis recorded in a configuration."""
    entry = config.get("analysis")
    if entry is None:
        return UNRECORDED
    try:
        return Analysis.recorded(entry["words"], entry["k1"], entry["b"])
    except ValueError as error:
        raise VersionError(f"rag.config: {error}") from None
