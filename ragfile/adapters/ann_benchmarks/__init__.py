"""Exact search over a .ragfile, for ann-benchmarks (which loads `module` here) and big-ann-benchmarks."""

from ragfile.adapters.ann_benchmarks.module import Ragfile as Ragfile
from ragfile.adapters.ann_benchmarks.module import RagfileFiltered as RagfileFiltered
