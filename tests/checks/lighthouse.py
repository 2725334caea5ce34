"""What Lighthouse says of the first page of a website, as a phone and as a computer load it.

    python tests/checks/lighthouse.py build/site [--least 95]

`make -C tests lighthouse` builds the website and installs Lighthouse before. The best of three runs counts, because
other work of the machine slows a run. Exits with 1 if a speed is under the least one, and says why it left out all.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from servers.site_server import SiteServer

PROGRAM = Path(__file__).resolve().parents[2] / "build/page/node_modules/.bin/lighthouse"
FLAGS = "--headless=new --no-sandbox --disable-gpu"


def browser():
    """Return the path of Chromium or Chrome, or None."""
    names = ("chromium", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def scores(url, device, chromium):
    """Return {category: 0 to 100} and the seconds and bytes of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        command = [
            PROGRAM,
            url,
            "--quiet",
            f"--chrome-flags={FLAGS}",
            "--output=json",
            f"--output-path={out}",
        ]
        command += ["--preset=desktop"] if device == "desktop" else []
        subprocess.run(command, env={**os.environ, "CHROME_PATH": chromium}, check=True)
        report = json.loads(out.read_text())
    found = {name: round(100 * each["score"]) for name, each in report["categories"].items()}
    audits = report["audits"]
    told = {name: audits[name]["displayValue"] for name in
            ("largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift", "total-byte-weight")}  # fmt: skip
    return found, told


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("site", type=Path)
    options.add_argument("--least", type=int, default=95)
    options.add_argument("--runs", type=int, default=3)
    chosen = options.parse_args()
    chromium = browser()
    if not PROGRAM.exists() or chromium is None:
        print(f"left out: no {'Chromium' if PROGRAM.exists() else PROGRAM}")
        return 0
    is_fast = True
    with SiteServer(chosen.site) as server:
        server.packs = True
        for device in ("mobile", "desktop"):
            found, told = {"performance": -1}, {}
            for _ in range(chosen.runs):
                again = scores(f"{server.url}/index.html", device, chromium)
                found, told = max((found, told), again, key=lambda run: run[0]["performance"])
                if found["performance"] >= chosen.least:
                    break
            print(device, found, told, flush=True)
            is_fast &= found["performance"] >= chosen.least
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
