"""The ranking of source code, in files that record it: csrc/fusion/code_rank.c has the rule.

Names of files and folders, the passages of a file together, and whether it is a test decide beside the scores of its
passages. Passages of other files keep their scores. The rule sees the candidates of one question: all rows that its
retrievers propose. It needs the question's words, so it leaves alone the answers by vectors only and by similar_to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ragfile.search.question import Question
    from ragfile.search.retriever_fusion import Ranked
    from ragfile.search.rows_protocol import SearchedRows


def ranked(base: SearchedRows, question: Question, found: Ranked) -> Ranked:
    """Return all candidates of each text in their order as source code."""
    if not found.rows.size:
        return found
    order, scores = base.rank_code(question.texts, found.rows, found.scores, question.notes)
    parts = {name: np.take_along_axis(part, order, 1) for name, part in found.parts.items()}
    return found._replace(rows=np.take_along_axis(found.rows, order, 1), scores=scores, parts=parts)
