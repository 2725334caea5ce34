"""A folder of files by name: opened on first use, bounded, shared by threads, and made by the first write."""

import asyncio
import gc
import os
import threading
import weakref

import pytest
from oracles.search_cases import Hashed

import ragfile


@pytest.fixture
def users(tmp_path):
    """A folder with a file for each of five users."""
    folder = tmp_path / "users"
    folder.mkdir()
    for n in range(5):
        path = folder / f"user{n}.ragfile"
        with ragfile.create(path, embedder=Hashed()) as writer:
            writer.add_documents([{"id": "tea", "text": f"User {n} drinks tea."}])
    return str(folder)


def texts(rf, question="tea"):
    return [hit.text for hit in rf.search(question, 5, mode="bm25")]


def put(doc_id, text):
    return lambda writer: writer.upsert([{"id": doc_id, "text": text}])


def test_a_file_is_opened_by_its_name(users):
    with ragfile.Folder(users) as folder:
        assert folder.names() == [f"user{n}" for n in range(5)]
        assert texts(folder.open("user3")) == ["User 3 drinks tea."]
        assert "user3" in folder
        assert "nobody" not in folder
        with pytest.raises(FileNotFoundError, match="no such file"):
            folder.open("nobody")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../user1", "a/b", "a\\b", "/etc/passwd", ".hidden", "a\0b", "a\nb", "x" * 201, "a.", "c:",
     "con", "NUL", "aux.txt", "Lpt1.x.y", "com²", "conin$", "prn .x", "e\u0301", "\ud800", "a ", "\u202ea"],
)  # fmt: skip
def test_a_name_cannot_lead_out_of_the_folder(users, name):
    folder = ragfile.Folder(users, create=True)
    for call in (folder.open, folder.edit, folder.path_of, folder.__contains__):
        with pytest.raises(ValueError, match="is not the name of a file"):
            call(name)
    with pytest.raises(ValueError, match="is not the name of a file"):
        folder.change(name, put("a", "b"))
    assert sorted(os.listdir(users)) == [f"user{n}.ragfile" for n in range(5)]


@pytest.mark.parametrize(
    "name", ["é", "con1", "com10", "名前", "a b", "nulls", "x" * 200, "a.b", "co"]
)
def test_other_names_are_made_and_found(users, name):
    folder = ragfile.Folder(users, create=True)
    folder.change(name, put("a", "Some coffee."))
    assert name in folder.names()
    assert texts(folder.open(name), "coffee") == ["Some coffee."]


@pytest.mark.parametrize(("one", "other"), [("Anna", "anna"), ("Straße", "strasse"), ("É", "é")])
def test_a_name_that_differs_from_another_in_case_alone_is_not_made(users, one, other):
    folder = ragfile.Folder(users, create=True)
    folder.change(one, put("a", "Some coffee."))
    with pytest.raises(ValueError, match="in case alone"):
        folder.change(other, put("a", "Some coffee."))
    with pytest.raises(FileNotFoundError):
        folder.open(other)
    folder.change(one, put("b", "More coffee."))


def test_a_file_is_found_by_its_exact_name_where_case_does_not_count(users, monkeypatch):
    real, stems = os.path.exists, {f"user{n}" for n in range(5)}
    monkeypatch.setattr(
        os.path,
        "exists",
        lambda p: real(p) or os.path.basename(p).lower().removesuffix(".ragfile") in stems,
    )
    folder = ragfile.Folder(users)
    assert texts(folder.open("user1")) == ["User 1 drinks tea."]
    with pytest.raises(FileNotFoundError):
        folder.open("USER1")


def test_no_more_files_stay_open_than_allowed(users):
    folder = ragfile.Folder(users, max_open=2)
    gone = weakref.ref(folder.open("user0").rows)
    for n in (1, 2, 3, 4):
        folder.open(f"user{n}")
    gc.collect()
    assert gone() is None
    assert "2 files open" in repr(folder)


def test_files_are_bounded_by_their_bytes_too(users):
    size = os.path.getsize(os.path.join(users, "user0.ragfile"))
    folder = ragfile.Folder(users, max_bytes=3 * size)
    for n in range(5):
        folder.open(f"user{n}")
    assert "3 files open" in repr(folder)


def test_a_file_that_left_the_cache_still_answers_who_holds_it(users):
    folder = ragfile.Folder(users, max_open=1)
    view = folder.open("user0")
    with folder.open("user1"), folder.open("user2"):
        pass  # closing a view closes no file
    folder.close()
    assert texts(view) == ["User 0 drinks tea."]
    assert texts(folder.open("user2")) == ["User 2 drinks tea."]


def test_each_opening_sees_the_newest_commit_and_keeps_it(users):
    folder = ragfile.Folder(users, embedder=Hashed())
    before = folder.open("user0")
    assert folder.change("user0", put("more", "More tea."), message="a change") is None
    assert len(texts(before)) == 1
    assert sorted(texts(folder.open("user0"))) == ["More tea.", "User 0 drinks tea."]
    with folder.edit("user0") as writer:
        writer.delete(["tea"])
    assert texts(folder.open("user0")) == ["More tea."]


def test_a_deleted_file_is_missed_and_a_new_one_found(users):
    folder = ragfile.Folder(users)
    folder.open("user0")
    os.replace(folder.path_of("user0"), folder.path_of("moved"))
    with pytest.raises(FileNotFoundError):
        folder.open("user0")
    assert texts(folder.open("moved")) == ["User 0 drinks tea."]


def test_the_first_write_makes_a_file_if_that_is_allowed(users):
    folder = ragfile.Folder(
        users, create=True, template=os.path.join(users, "user0.ragfile"), embedder=Hashed()
    )
    folder.change("new", put("a", "Some coffee."))
    assert texts(folder.open("new"), "coffee") == ["Some coffee."]
    assert folder.open("new").file.config["model"]["name"] == "hashed"
    with pytest.raises(FileNotFoundError, match="create=True makes it"):
        ragfile.Folder(users).change("other", put("a", "b"))
    assert folder.names() == ["new", *(f"user{n}" for n in range(5))]


def test_a_file_is_made_with_the_default_model_without_another(tmp_path):
    folder = ragfile.Folder(tmp_path, create=True)
    folder.change("first", put("a", "Pods drain slowly."))
    assert folder.open("first").search("pods")[0].doc_id == "a"


def test_every_file_is_a_layer_over_a_shared_one(users, tmp_path):
    team = str(tmp_path / "team.ragfile")
    with ragfile.create(team, embedder=Hashed()) as writer:
        writer.add_documents([{"id": "all", "text": "All drink tea."}])
    with ragfile.open(team) as shared:
        folder = ragfile.Folder(users, over=[shared], create=True, embedder=Hashed())
        folder.change("new", lambda writer: writer.delete(["all"]))
        assert sorted(texts(folder.open("user1"))) == ["All drink tea.", "User 1 drinks tea."]
        assert texts(folder.open("new")) == []


def test_threads_ask_and_write_together_without_losing_anything(users):
    folder, failures = ragfile.Folder(users, max_open=2, create=True, embedder=Hashed()), []

    def work(number):
        try:
            for turn in range(10):
                name = f"user{(number + turn) % 5}"
                folder.change(name, put(f"n{number}-{turn}", "Tea again."))
                assert f"n{number}-{turn}" in folder.open(name).document_ids()
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=work, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(len(folder.open(name).document_ids()) for name in folder.names()) == 5 + 40


def test_files_are_opened_without_blocking_the_event_loop(users):
    folder = ragfile.Folder(users)

    async def ask(n):
        rf = await folder.aopen(f"user{n}")
        return (await rf.asearch("tea", 1, mode="bm25"))[0].text

    async def everyone():
        return await asyncio.gather(*map(ask, range(5)))

    assert asyncio.run(everyone()) == [f"User {n} drinks tea." for n in range(5)]


def test_a_path_that_is_no_folder_is_refused(users):
    with pytest.raises(NotADirectoryError):
        ragfile.Folder(os.path.join(users, "user0.ragfile"))


def test_what_is_no_file_has_no_name(tmp_path):
    (tmp_path / "gone.ragfile").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.ragfile").mkdir()
    with ragfile.Folder(tmp_path) as files:
        assert files.names() == []


def test_one_path_is_no_list_of_layers(tmp_path):
    with pytest.raises(TypeError, match="a list of layers"):
        ragfile.Folder(tmp_path, over="base.ragfile")
