"""Files with equal settings share the decoded values, and each has a dictionary of its own."""

import pytest

import ragfile
from ragfile.file import config


def test_files_of_equal_settings_share_values_but_no_dictionary(tmp_path):
    for name in ("one", "two"):
        ragfile.build([{"id": name, "text": f"The text {name}."}], tmp_path / f"{name}.ragfile")
    with ragfile.open(tmp_path / "one.ragfile") as one, ragfile.open(tmp_path / "two.ragfile") as two:  # fmt: skip
        first, second = one.rows.config, two.rows.config
        assert first["model"] is second["model"]
        first["metric"] = "l2"
        assert second.get("metric") != "l2"
    with ragfile.open(tmp_path / "one.ragfile") as again:
        assert again.rows.config.get("metric") != "l2"


def test_a_large_configuration_is_not_kept():
    raw = b'{"own": "' + b"x" * config.SHARED_MOST + b'"}'
    assert config.read_config(raw, "a")["own"] is not config.read_config(raw, "a")["own"]


def test_an_error_names_the_file_that_has_it():
    for path in ("a", "b"):
        with pytest.raises(ragfile.CorruptError, match=f"{path}: rag.config: invalid value"):
            config.read_config(b'{"dim": "three"}', path)
