"""Modules joined into one file do what they did apart, in node."""

import subprocess

import pytest
from doors.browser.node import node

from ragfile.doors.site.bundle_js import joined

MODULES = {
    "entry.js": 'import { twice as two, LIST } from "./a.js";\nimport * as b from "./b.js";\n'
    'export * from "./a.js";\nexport { own as shown } from "./b.js";\n'
    "export const found = two(b.own()) + LIST.length;\nconst own = 5;\nexport { own };\n",
    "a.js": 'import { own } from "./b.js";\nexport function twice(n) {\n  return 2 * n;\n}\n'
    "export const LIST = [own(), 2];\nexport class Shape {}\n",
    "b.js": "// a name that others have, too\nconst LIST = 20;\nexport function own() {\n  return LIST;\n}\n"
    "function only() {\n  return 1;\n}\nexport default only;\n",
}


def shown(text):
    script = f"{text}\nconsole.log(JSON.stringify([found, LIST, own, shown(), new Shape().constructor.name]))"
    command = [node(), "--input-type=module", "-e", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_modules_joined_keep_their_own_names():
    text = joined("entry.js", MODULES.__getitem__)
    script = text.replace("export const {", "const {")
    assert shown(script) == '[42,[20,2],5,20,"Shape"]'
    assert text.count("function twice") == 1


def test_a_module_of_another_folder_is_imported_where_it_is():
    modules = {"entry.js": 'import { x } from "./there/x.js";\nexport const y = x;\n'}
    text = joined("entry.js", modules.__getitem__)
    assert text.startswith('import * as module_there_x from "./there/x.js";')


def test_a_module_that_another_file_has_comes_from_there():
    modules = {"entry.js": 'import { x } from "./x.js";\nexport const y = x;\n'}
    text = joined("entry.js", modules.__getitem__, {"x.js": "index.js"})
    assert 'from "./index.js";' in text


@pytest.mark.parametrize(
    "line", ["export let x = 1;", 'import x from "./x.js";', "export default class {}"]
)
def test_what_is_not_understood_is_refused(line):
    with pytest.raises(ValueError, match="unsupported syntax"):
        joined("entry.js", {"entry.js": f"{line}\n"}.__getitem__)


def test_a_circle_is_refused():
    modules = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    with pytest.raises(ValueError, match="imports itself"):
        joined("a.js", modules.__getitem__)
