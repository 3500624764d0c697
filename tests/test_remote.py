"""A bundle in an object store: whole for every reader at any time, sent once, checked when it is read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow.fs import FileSelector, FileType, S3FileSystem

import pipeline
from pipeline import export
from pipeline.export import reading, remote
from pipeline.records import kept, leaves
from pipeline.records.errors import ConfigError, ExportError
from tests import entry_factory as make
from tests import golden, s3_server
from tests.cli import run
from tests.rings import one_in

ERROR = "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 4096, Hardware limit: 1024.\n"
THREADS = "triton/out-of-resources-threads"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server.started(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in s3_server.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def url(address: str, request: pytest.FixtureRequest) -> str:
    name = re.sub(r"\W", "-", request.node.name)
    return s3_server.url(address, f"team/{name}")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    export.write(tmp_path / "bundle", [make.entry(), make.entry(id="cuda/other", domain="cuda")])
    return tmp_path / "bundle"


class Watched:
    """A store's file system that notes what is put, read and removed; `fail_at` breaks off before the n-th put."""

    def __init__(self, system: S3FileSystem, fail_at: int | None = None) -> None:
        self._system, self._fail_at, self._lock = system, fail_at, threading.Lock()
        self.put: list[str] = []
        self.read: list[str] = []

    def open_output_stream(self, path: str) -> Any:
        with self._lock:
            self.put.append(path.rpartition("/")[2])
            if self._fail_at is not None and len(self.put) > self._fail_at:
                raise OSError("the network is gone")
        return self._system.open_output_stream(path)

    def open_input_stream(self, path: str) -> Any:
        self.read.append(path.rpartition("/")[2])
        return self._system.open_input_stream(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return _watch(monkeypatch)


def _watch(monkeypatch: pytest.MonkeyPatch, fail_at: int | None = None) -> Watched:
    made = remote._file_system
    watching = Watched(None, fail_at)  # type: ignore[arg-type]

    def noted(url: str, shown: str) -> tuple[Any, str]:
        watching._system, root = made(url, shown)  # type: ignore[assignment]
        return watching, root

    monkeypatch.setattr(remote, "_file_system", noted)
    return watching


def objects(address: str, url: str) -> set[str]:
    prefix = url.partition("?")[0].removeprefix("s3://")
    found = s3_server.filesystem(address).get_file_info(FileSelector(f"{prefix}/objects"))
    return {one.base_name for one in found if one.type == FileType.File}


def test_what_is_published_is_read_as_it_was(bundle: Path, url: str) -> None:
    sent = remote.publish(bundle, url)
    manifest = export.read_manifest(bundle)
    assert (sent.bundle_id, sent.file_count) == (manifest.bundle_id, len(manifest.files))
    there = remote.local(url)
    assert export.read_manifest(there) == manifest
    for file in manifest.files:
        assert reading.read_file(there, file.path) == (bundle / file.path).read_bytes()
    assert export.read_entries(there) == export.read_entries(bundle)


@pytest.mark.long
def test_what_did_not_change_is_not_sent_again_and_the_manifest_comes_last(
    bundle: Path, url: str, watched: Watched
) -> None:
    remote.publish(bundle, url)
    assert watched.put[-1] == "manifest.json"
    before = {file.sha256 for file in export.read_manifest(bundle).files}
    assert sorted(watched.put[:-1]) == sorted(before)
    watched.put.clear()
    assert remote.publish(bundle, url).sent_count == 0
    assert watched.put == ["manifest.json"]
    watched.put.clear()
    export.write(bundle, [make.entry(), make.entry(id="cuda/new", domain="cuda")])
    remote.publish(bundle, url)
    now = {file.sha256 for file in export.read_manifest(bundle).files}
    assert sorted(watched.put[:-1]) == sorted(now - before)
    assert kept.sha256((bundle / "entries/triton/out-of-resources-shared-memory.json").read_bytes()) not in watched.put


@pytest.mark.long
def test_of_a_bundle_of_leaves_those_are_sent_and_read_that_have_to_be(
    tmp_path: Path, url: str, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaves, "LEAF_BYTES", 20_000)
    entries = [make.entry(id=f"triton/entry-{number}") for number in range(60)]
    export.write(tmp_path / "large", entries)
    assert remote.publish(tmp_path / "large", url).sent_count > 30
    export.write(tmp_path / "large", [entries[0].model_copy(update={"tags": ["changed"]}), *entries[1:]])
    assert remote.publish(tmp_path / "large", url).sent_count == 2, "the lines and the table of one leaf"
    watched.read.clear()
    found = pipeline.open_bundle(url).entry("triton/entry-0")
    assert found is not None
    assert found.tags == ["changed"]
    assert len(watched.read) == 2, "the manifest and the leaf"


@pytest.mark.long
def test_a_reader_goes_on_with_its_bundle_while_another_is_published(bundle: Path, url: str) -> None:
    remote.publish(bundle, url)
    reader = pipeline.open_bundle(url)
    export.write(bundle, [make.entry(tags=["newer"])])
    remote.publish(bundle, url)
    assert {one.id for one in reader.entries()} == {make.entry().id, "cuda/other"}
    assert [one.tags for one in pipeline.open_bundle(url).entries()] == [["newer"]]


@pytest.mark.parametrize("fail_at", one_in(3, [0, 1, 5, 12]))
def test_a_publication_that_breaks_off_leaves_the_bundle_of_before(
    bundle: Path, url: str, fail_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.publish(bundle, url)
    before = export.read_manifest(bundle).bundle_id
    export.write(bundle, [make.entry(id=f"cuda/n{number}", domain="cuda") for number in range(9)])
    with monkeypatch.context() as broken:
        _watch(broken, fail_at)
        with pytest.raises(ExportError, match="the network is gone"):
            remote.publish(bundle, url)
    there = remote.local(url)
    assert export.read_manifest(there).bundle_id == before
    assert len(export.read_entries(there)) == 2
    assert remote.publish(bundle, url).sent_count == 13 - min(fail_at, 13), "what was sent need not be sent again"
    assert export.read_manifest(remote.local(url)).bundle_id == export.read_manifest(bundle).bundle_id


def test_what_no_manifest_names_goes_a_day_later(
    bundle: Path, url: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.publish(bundle, url)
    first = objects(address, url)
    export.write(bundle, [make.entry(id="cuda/new", domain="cuda")])
    assert remote.publish(bundle, url).removed_count == 0
    monkeypatch.setattr(remote, "_GRACE_SECONDS", -60)
    export.write(bundle, [make.entry(id="cuda/newest", domain="cuda")])
    remote.publish(bundle, url)
    now = {file.sha256 for file in export.read_manifest(bundle).files}
    assert objects(address, url) >= now
    assert not (first - now) & objects(address, url)
    assert export.read_entries(remote.local(url))[0].id == "cuda/newest"


def test_damage_there_and_in_what_was_kept_is_seen(bundle: Path, url: str, address: str, tmp_path: Path) -> None:
    remote.publish(bundle, url)
    there, index = remote.local(url), kept.sha256((bundle / "index.json").read_bytes())
    export.read_index(there)
    cached = tmp_path / "cache" / "errmine" / "objects" / index
    cached.write_bytes(b"{}")
    export.read_index(there)  # read again from the store
    assert cached.read_bytes() == (bundle / "index.json").read_bytes()
    cached.unlink()
    prefix = url.partition("?")[0].removeprefix("s3://")
    with s3_server.filesystem(address).open_output_stream(f"{prefix}/objects/{index}") as stream:
        stream.write(b"{}")
    with pytest.raises(ExportError, match="not those that were written"):
        export.read_index(there)


def test_what_is_damaged_there_is_sent_again(bundle: Path, url: str, address: str) -> None:
    remote.publish(bundle, url)
    place = f"{url.partition('?')[0].removeprefix('s3://')}/objects"
    body = (bundle / "index.json").read_bytes()
    for damaged, again, sent in ((body[:9], False, 1), (body.swapcase(), False, 0), (body.swapcase(), True, 9)):
        with s3_server.filesystem(address).open_output_stream(f"{place}/{kept.sha256(body)}") as stream:
            stream.write(damaged)
        done = remote.publish(bundle, url, again=again)
        assert done.sent_count == (done.file_count if again else sent)
    assert reading.read_file(remote.local(url), "index.json") == body


@pytest.mark.long
def test_two_publications_at_once_leave_whole_what_was_put_last(
    bundle: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    export.write(other, [make.entry(id="cuda/of-others", domain="cuda")])
    remote.publish(bundle, url)
    remote.publish(other, url)
    export.write(tmp_path / "third", [make.entry(id="cuda/third", domain="cuda")])
    remote.publish(tmp_path / "third", url)  # no manifest names what only `bundle` has, and it is old
    monkeypatch.setattr(remote, "_GRACE_SECONDS", -60)
    put, meanwhile = remote._Store.put, []

    def while_it_is_sent(store: Any, name: str, body: bytes) -> None:
        if name == kept.MANIFEST and not meanwhile:
            meanwhile.append(name)
            assert remote.publish(other, url).removed_count > 0
        put(store, name, body)

    monkeypatch.setattr(remote._Store, "put", while_it_is_sent)
    assert remote.publish(bundle, url).sent_count > 0
    there = remote.local(url)
    assert export.read_entries(there) == export.read_entries(bundle)


def test_who_finds_the_manifest_of_another_deletes_nothing(
    bundle: Path, url: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    export.write(other, [make.entry(id="cuda/of-others", domain="cuda")])
    for one in (bundle, other, other):
        remote.publish(one, url)
    monkeypatch.setattr(remote, "_GRACE_SECONDS", -60)
    put = remote._Store.put

    def before_another(store: Any, name: str, body: bytes) -> None:
        put(store, name, (bundle / name).read_bytes() if name == kept.MANIFEST else body)

    before = objects(address, url)
    monkeypatch.setattr(remote._Store, "put", before_another)
    assert remote.publish(other, url).removed_count == 0
    assert objects(address, url) == before


def test_a_match_reads_the_manifest_the_index_and_the_entries_that_it_tells_of(
    sample_home: Path, url: str, watched: Watched
) -> None:
    remote.publish(sample_home / "curated", url)
    watched.read.clear()
    found = pipeline.open_bundle(url)
    assert found.match(ERROR).entry_id == THREADS
    assert found.entry(THREADS) is not None
    assert len(watched.read) == 3
    watched.read.clear()
    again = pipeline.open_bundle(url)
    assert again.match(ERROR).entry_id == THREADS
    assert watched.read == ["manifest.json"], "the rest was kept"
    assert again.search("threads")


@pytest.mark.long
def test_the_commands_publish_and_ask(sample_home: Path, tmp_path: Path, url: str) -> None:
    home = golden.copied(sample_home, tmp_path / "home")
    (home / "errmine.toml").write_text(f'[publish]\nto = "{url}"\n')
    told = json.loads(run("export", "--home", home, "--json").out)
    assert told["published_files"] > 10
    shutil.rmtree(home / "curated")
    log = tmp_path / "build.log"
    log.write_text(ERROR)
    found = run("match", log, "--bundle", url, "--json")
    assert (found.code, found.err) == (0, "")
    assert json.loads(found.out)["findings"][0]["entry_id"] == THREADS
    assert THREADS in run("search", "threads", "--bundle", url).out


@pytest.mark.parametrize(
    ("place", "kind", "told"),
    [
        ("ftp://host/x", ConfigError, "no address of an object store"),
        ("s3://", ConfigError, "no address of an object store"),
        ("file:///tmp/x", ConfigError, "no address of an object store"),
    ],
)
def test_what_is_no_store_is_named(place: str, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        remote.local(place)


def test_where_there_is_no_bundle_it_says_so(url: str, address: str) -> None:
    with pytest.raises(ExportError, match=r"manifest\.json is not there") as refused:
        remote.local(url)
    assert "endpoint_override" not in str(refused.value)
    with pytest.raises(ExportError):
        remote.local(s3_server.url(address, "x").replace(s3_server.BUCKET, "no-such-bucket"))


def test_nothing_of_others_is_replaced(bundle: Path, url: str, address: str) -> None:
    prefix = url.partition("?")[0].removeprefix("s3://")
    with s3_server.filesystem(address).open_output_stream(f"{prefix}/manifest.json") as stream:
        stream.write(b'{"short_name": "an app"}')
    with pytest.raises(ExportError, match="is no manifest of a bundle"):
        remote.publish(bundle, url)


def test_no_secret_of_an_address_is_printed(address: str) -> None:
    with pytest.raises(ExportError, match="is not there") as refused:
        remote.local(s3_server.url(address, "none").replace("s3://", "s3://testing:sEcReT@"))
    assert "sEcReT" not in str(refused.value)


@pytest.mark.parametrize(
    "place",
    [
        "s4://KEY:sEcReT@bucket/x",
        "s3://KEY:sEcReT@bu cket/x?region=sEcReT",
        "s3://KEY:s/sEcReT@bucket/x",
        "s3://KEY:s?sEcReT@bucket/x",
        "s3://KEY:sEcReT@",
    ],
)
def test_no_secret_of_a_mistyped_address_is_printed(place: str) -> None:
    with pytest.raises((ConfigError, ExportError)) as refused:
        remote.local(place)
    assert "sEcReT" not in str(refused.value)
    assert refused.value.__cause__ is None or "sEcReT" not in str(refused.value.__cause__)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("index.json", "../../../../outside"), ("index.json", "/outside"), ("../index.json", "0" * 64), ("/x", "0" * 64)],
)
def test_a_manifest_of_others_leads_out_of_no_folder(name: str, wanted: str, url: str, address: str) -> None:
    files = [{"bytes": 2, "path": name, "sha256": wanted}]
    prefix = url.partition("?")[0].removeprefix("s3://")
    with s3_server.filesystem(address).open_output_stream(f"{prefix}/manifest.json") as stream:
        stream.write(kept.sealed_json({"bundle_id": "x", "files": files}))
    with pytest.raises(ExportError, match="no file of this folder"):
        export.read_manifest(remote.local(url))


def test_an_object_that_is_not_what_it_is_called_is_not_kept(
    bundle: Path, url: str, address: str, tmp_path: Path
) -> None:
    remote.publish(bundle, url)
    index = kept.sha256((bundle / "index.json").read_bytes())
    prefix = url.partition("?")[0].removeprefix("s3://")
    with s3_server.filesystem(address).open_output_stream(f"{prefix}/objects/{index}") as stream:
        stream.write(b"{}")
    with pytest.raises(ExportError, match="not those that were written"):
        export.read_index(remote.local(url))
    assert not (tmp_path / "cache" / "errmine" / "objects" / index).exists()


def test_nothing_of_others_is_deleted(bundle: Path, url: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_GRACE_SECONDS", -60)
    prefix, strangers = url.partition("?")[0].removeprefix("s3://"), {"photo.jpg", "a" * 64}
    for name in strangers:
        with s3_server.filesystem(address).open_output_stream(f"{prefix}/objects/{name}") as stream:
            stream.write(b"of somebody else")
    assert remote.publish(bundle, url).removed_count == 0
    assert objects(address, url) >= strangers
    remote.publish(bundle, url)
    assert "photo.jpg" in objects(address, url)


def test_who_has_a_folder_loads_nothing_of_stores(bundle: Path) -> None:
    code = (
        "import sys, pipeline; list(pipeline.open_bundle(sys.argv[1]).entries());"
        "assert 'pipeline.export.remote' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(bundle)], check=True, cwd=golden.ROOT)
