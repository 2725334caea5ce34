"""What a release needs, apart from the addresses that only its publisher knows."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from places import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text())["jobs"].items()
]


def ran(*command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)


def problems(*options):
    return ran("tools/check_release.py", *options).stderr.splitlines()


def addresses(lines):
    return [line for line in lines if line.startswith(".github/contact.toml: set ")]


def test_every_version_is_that_of_the_package():
    found = problems()
    assert found == addresses(found)


def test_a_tag_of_another_version_is_refused():
    assert any(
        line.startswith("the tag: version 9.9.9, but") for line in problems("--tag", "v9.9.9")
    )


def test_the_registries_are_told_where_the_repository_is(tmp_path):
    tools = ("check_release", "release_notes")
    package = "ragfile/doors/browser/package.json"
    for name in (
        *(f"tools/{tool}.py" for tool in tools),
        *("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "ragfile/__init__.py", package),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    contact = tmp_path / ".github/contact.toml"
    contact.parent.mkdir()
    contact.write_text('repository = "https://code.example/one/ragfile"\n')
    check = tmp_path / "tools/check_release.py"
    assert len(ran(check).stderr.splitlines()) == 2, "both files lack it"
    for _ in range(2):  # a second time changes nothing
        assert ran(check, "--write").returncode == 0
    told = json.loads((tmp_path / package).read_text())
    assert told["repository"]["url"] == "git+https://code.example/one/ragfile.git"
    assert told["publishConfig"]["provenance"] is True
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"] == {"Repository": "https://code.example/one/ragfile"}
    contact.write_text('repository = "https://code.example/another"\n')
    assert ran(check).returncode == 1


def test_the_notes_of_a_version_are_its_part_of_the_changelog():
    done = ran("tools/release_notes.py", "0.1.0")
    assert done.stdout.startswith("The first version.")
    assert "## 0.1.0" not in done.stdout


def test_a_version_without_notes_is_refused():
    assert "nothing about 9.9.9" in ran("tools/release_notes.py", "9.9.9").stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_an_action_is_pinned_by_its_hash_and_names_its_version(path):
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", one)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_grants_nothing_to_all_of_its_jobs(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {}


@pytest.mark.parametrize("job", JOBS)
def test_a_job_has_a_limit_of_time_and_permissions_of_its_own(job):
    assert job["timeout-minutes"] <= 150
    assert job["permissions"]


@pytest.mark.parametrize("job", JOBS)
def test_no_expression_is_pasted_into_a_command(job):
    commands = [step.get("run", "") for step in job["steps"]]
    assert [line for line in commands if "${{" in line] == []


@pytest.mark.parametrize("job", JOBS)
def test_a_checkout_leaves_no_credentials_behind(job):
    checkouts = [
        step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_every_target_that_a_workflow_runs_is_a_target():
    rules = set(
        re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "tests/Makefile").read_text(), re.MULTILINE)
    )
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    wanted = " ".join(ci["jobs"]["checks"]["strategy"]["matrix"]["targets"]).split()
    assert {word for word in wanted if "=" not in word} <= rules


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_no_public_name_has_gone():
    spec = importlib.util.spec_from_file_location("public_names", ROOT / "tools/public_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sorted(set(module.LIST.read_text().splitlines()) - set(module.names())) == []
