"""A small static site for the tests in browsers."""

import ragfile

TEXTS = {
    "guide/keys.md": "# Keys\n\nTo rotate the keys, run the rotation job every 90 days.\n",
    "guide/pods.md": "# Pods\n\nRestart a pod by deleting it. The node is drained first.\n",
    "herons.txt": "Herons stand in shallow water and wait.\n",
}
ELEMENT = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
    "worker-src 'self'; style-src 'self'; img-src 'self'\"><title>mine</title><link rel=\"icon\" href=\"icon.svg\">"
    '<script type="module" src="ragfile/element.js"></script>'
    '<ragfile-search src="kb.ragfile" link="/docs/{page}/"></ragfile-search>'
)
KEPT = """async () => {
  await navigator.serviceWorker.ready;
  let missing = [];
  for (let i = 0; i < 200; i++) {
    const cache = await caches.open("ragfile-site");
    const kept = (await cache.keys()).map((request) => new URL(request.url).pathname);
    const site = await (await fetch("site.json")).json();
    const wanted = ["", ...site.shell, site.file, site.model, "site.json"];
    missing = wanted.filter((name) => !kept.includes(`/${name}`));
    if (!missing.length) return kept;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`not kept: ${missing}`);
}"""


def written(folder):
    """The site of TEXTS, in a folder of its own."""
    for name, text in TEXTS.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text)
    ragfile.build([folder / "in"], folder / "kb.ragfile", layout="web")
    ragfile.site(folder / "kb.ragfile", folder / "public", title="A <b> & c")
    return folder / "public"
