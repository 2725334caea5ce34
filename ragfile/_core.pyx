"""The compiled core. It loads the other modules of this shared object, and has their public names.

They are several, so that a change recompiles a quarter: _core_files (files), _core_records
(documents, chunks, columns), _core_text (words and BM25) and _core_vectors (search and fusion).
_core_shared is Cython's code for buffers, which all of them use. C's declarations, the modules
`rag.*`, are written by tools/write_pxd.py from the headers in csrc/include.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location


cdef load(str name):
    """Load a module of this shared object, and copy its public names."""
    loader = ExtensionFileLoader(name, __file__)
    module = module_from_spec(spec_from_file_location(name, __file__, loader=loader))
    sys.modules[name] = module
    loader.exec_module(module)
    for key, value in vars(module).items():
        if key.startswith("_") or not (
                key.isupper() or getattr(value, "__module__", None) == name):
            continue
        if callable(value) and not isinstance(value, type):
            value.__module__ = __name__  # where pickle looks for a function
        globals()[key] = value


for part in ("shared", "files", "records", "text", "vectors"):  # each uses those before it
    load(f"{__name__}_{part}")
