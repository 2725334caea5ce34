"""Generate the dataset of this folder: `python spec/vectors/dataset/make.py FOLDER`.

The bytes of compressed blocks, and therefore the names, depend on the version of libzstd. The
files in this folder were generated once and are kept; `expected.json` is the output of the second
reader for them.
"""

import os
import sys
import tempfile
from pathlib import Path

from ragfile import dataset

TEXTS = {
    "a.md": "---\ntags: [animal]\nyear: 1999\n---\n# Foxes\n\nThe red fox sees a red hen.\n",
    "b.md": "---\ntags: [plant]\nyear: 2004\n---\n# Roses\n\nA rose is red. A fox is not.\n",
    "c.md": "# Nothing\n\nNo animal, no plant.\n",
}


def make(out):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("sources").mkdir()
        for name, text in TEXTS.items():
            Path("sources", name).write_text(text)
            os.utime(Path("sources", name), (1_700_000_000, 1_700_000_000))
        dataset.build("sources", out, shards=2, message="three texts")


if __name__ == "__main__":
    make(os.path.abspath(sys.argv[1]))
