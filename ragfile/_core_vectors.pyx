"""Vectors: search, shadows, clusters, fusion with BM25, and the embedded model."""

from array import array
from collections import namedtuple

from ragfile._core_files import row_set
from ragfile._core_records import passage
from ragfile._core_text import Lexicon
from ragfile.errors import ModelError

from libc.stdlib cimport calloc, free, realloc

from rag.shared cimport *
from rag.vectors cimport *
from ragfile._core_files cimport Bare, Filters, Outlet, Section, address_of, check, write_out
from ragfile._core_records cimport records_at
from ragfile._core_text cimport legs_of, queries_at

include "pxi/vectors.pxi"
include "pxi/fusion.pxi"
include "pxi/refinement.pxi"
include "pxi/merged_rankings.pxi"
include "pxi/titles.pxi"
include "pxi/model.pxi"
