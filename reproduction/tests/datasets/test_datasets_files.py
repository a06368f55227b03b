"""Files are found in the promised order, downloads go on where they were cut, and nothing damaged is let through."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from reproduction import datasets
from reproduction.datasets.catalogue import SOURCES
from reproduction.datasets.content import check_content, digest
from reproduction.datasets.download import _write
from reproduction.datasets.files import Place, obtain
from reproduction.datasets.source import Download

BODY = bytes(np.random.RandomState(0).randint(0, 256, 300_000, dtype=np.uint8))
SHA256 = hashlib.sha256(BODY).hexdigest()


class Server(ThreadingHTTPServer):
    """Gives BODY; can cut a connection, ignore ranges, or be without the file."""

    daemon_threads = True
    block_on_close = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []
        self.cut_at: int | None = None
        self.knows_ranges = True
        self.status = 200
        self.body = BODY

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        body = self.server.body
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.server.knows_ranges else 0
        if start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if start:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : self.server.cut_at])
        self.server.cut_at = None

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SSLART_DATA", raising=False)
    monkeypatch.setenv("SSLART_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def served(url: str, sha256: str | None = SHA256) -> Any:
    """The entry of seeds, with its file at another address."""
    return replace(SOURCES["seeds"], downloads=(Download(url, "seeds/file.bin", sha256),))


def test_a_file_comes_whole(server: Server, cache: Path) -> None:
    place = obtain(served(server.url))
    assert place == Place((cache / "seeds" / "file.bin",), "cache")
    assert place.files[0].read_bytes() == BODY
    assert [path.name for path in (cache / "seeds").iterdir()] == ["file.bin"]


def test_a_file_in_the_cache_is_not_fetched_again(server: Server, cache: Path) -> None:
    obtain(served(server.url))
    obtain(served(server.url))
    assert len(server.ranges) == 1


def test_a_download_that_was_cut_goes_on_where_it_ended(server: Server, cache: Path) -> None:
    server.cut_at = 200_000
    with pytest.raises(datasets.DataNotFoundError, match=r"\d+ bytes are kept, and the next try goes on"):
        obtain(served(server.url))
    part = cache / "seeds" / "file.bin.part"
    size = part.stat().st_size
    assert 0 < size <= 200_000
    assert part.read_bytes() == BODY[:size]
    assert not (cache / "seeds" / "file.bin").exists()
    assert obtain(served(server.url)).files[0].read_bytes() == BODY
    assert server.ranges == [None, f"bytes={size}-"]
    assert not part.exists()


def test_a_server_without_ranges_starts_over(server: Server, cache: Path) -> None:
    (cache / "seeds").mkdir(parents=True)
    (cache / "seeds" / "file.bin.part").write_bytes(b"x" * 1000)
    server.knows_ranges = False
    assert obtain(served(server.url)).files[0].read_bytes() == BODY
    assert server.ranges == ["bytes=1000-"]


def test_a_part_that_is_whole_already_is_taken(server: Server, cache: Path) -> None:
    (cache / "seeds").mkdir(parents=True)
    (cache / "seeds" / "file.bin.part").write_bytes(BODY)
    assert obtain(served(server.url)).files[0].read_bytes() == BODY
    assert server.ranges == [f"bytes={len(BODY)}-"]


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, cache: Path) -> None:
    (cache / "seeds").mkdir(parents=True)
    (cache / "seeds" / "file.bin.part").write_bytes(BODY + b"more")
    assert obtain(served(server.url)).files[0].read_bytes() == BODY
    assert server.ranges == [f"bytes={len(BODY) + 4}-", None]


def test_a_file_with_the_wrong_hash_is_refused_and_not_kept(server: Server, cache: Path) -> None:
    server.body = BODY[:-1] + b"\0"
    with pytest.raises(ValueError, match="another SHA-256") as caught:
        obtain(served(server.url))
    assert server.url in str(caught.value)
    assert list((cache / "seeds").iterdir()) == []
    server.body = BODY
    assert obtain(served(server.url)).files[0].read_bytes() == BODY


def test_a_missing_file_gives_the_cures(server: Server, cache: Path) -> None:
    server.status = 404
    with pytest.raises(datasets.DataNotFoundError) as caught:
        obtain(served(server.url))
    for piece in ("'seeds'", server.url, "404", "SSLART_DATA", "seeds/wheat-seeds.csv", str(cache / "seeds/file.bin")):
        assert piece in str(caught.value)
    assert "ask the UCI" in str(caught.value)
    assert list((cache / "seeds").iterdir()) == []


def test_no_network_gives_the_cures(server: Server, cache: Path) -> None:
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(datasets.DataNotFoundError, match=r"no connection to 127\.0\.0\.1.*SSLART_DATA"):
        obtain(served(url))


def test_the_error_for_what_only_its_owners_give_out_names_them(cache: Path) -> None:
    with pytest.raises(datasets.DataNotFoundError, match="iTrust, Singapore University of Technology and Design"):
        datasets.fetch("wadi")


def test_the_folder_of_the_user_comes_before_the_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert datasets.where("seeds") == (None, None)
    cached = cache / "seeds" / "seeds_dataset.txt"
    cached.parent.mkdir(parents=True)
    cached.touch()
    assert datasets.where("seeds") == ((cached,), "cache")
    monkeypatch.setenv("SSLART_DATA", str(tmp_path / "mine"))
    assert datasets.where("seeds").found_in == "cache"  # not in the folder
    mine = tmp_path / "mine" / "seeds" / "wheat-seeds.csv"
    mine.parent.mkdir(parents=True)
    mine.touch()
    assert datasets.where("seeds") == ((mine,), "SSLART_DATA")


def test_some_files_of_several_are_not_enough(cache: Path) -> None:
    for number, name in enumerate(("optdigits.tra", "optdigits.tes")):
        assert datasets.where("optdigits").paths is None
        (cache / "optdigits").mkdir(parents=True, exist_ok=number > 0)
        (cache / "optdigits" / name).touch()
    assert datasets.where("optdigits").found_in == "cache"


def test_fetch_checks_what_has_come(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.body = b"15.26 14.84 0.871 5.763 3.312 2.221 5.22 1\n" * 210
    monkeypatch.setitem(SOURCES, "seeds", served(server.url, None))
    with pytest.raises(ValueError, match=r"seeds.*damaged or another version.*Delete it and fetch it anew"):
        datasets.fetch("seeds")


def test_an_unknown_name_is_met_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no data set 'sedes'. Did you mean 'seeds'\? There are: australian, "):
        datasets.where("sedes")


def test_the_digest_tells_contents_apart_and_not_formats() -> None:
    table = np.array([[1.0, np.nan], [0.0, 3.0]])
    same = np.array([[1, np.float64("-nan")], [-0.0, 3]])
    assert digest(table, ["a", "b"]) == digest(same, np.array(["a", "b"]))
    assert digest(table.astype(np.float32), ["a", "b"]) == digest(table, ["a", "b"])
    others = [
        digest(table, ["a", "c"]),
        digest(table[::-1], ["a", "b"]),
        digest(table.reshape(1, 4), ["a", "b"]),
        digest(np.nan_to_num(table), ["a", "b"]),
    ]
    assert len({digest(table, ["a", "b"]), *others}) == 5


def test_other_content_is_refused_with_path_and_cure() -> None:
    place = Place((Path("folder/wheat-seeds.csv"),), "cache")
    with pytest.raises(
        ValueError, match=r"wheat-seeds\.csv is damaged or another version.*python -m reproduction data fetch seeds"
    ):
        check_content(SOURCES["seeds"], np.zeros((210, 7)), ["Kama"] * 210, place)


def test_every_entry_can_be_loaded_and_says_where_it_is_from() -> None:
    assert datasets.list_datasets() == list(SOURCES)
    for source in SOURCES.values():
        assert f"load_{source.name}" in datasets.__all__
        assert source.public or source.name == "wadi"
        assert source.content is not None or source.name in ("norb_small", "wadi")
        assert all(download.url.startswith("https://") for download in source.downloads)
        assert source.licence
        assert source.origin
        assert source.ask


@pytest.mark.parametrize("module", ["pandas", "pooch", "requests", "tqdm"])
def test_a_package_that_is_missing_is_named_with_the_cure(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sslart._utils.optional import optional

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'{module}.*pip install .*"{module}>='):
        optional(module, "reproduction")


def test_without_pooch_there_is_no_cache_to_look_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSLART_DATA", raising=False)
    monkeypatch.delenv("SSLART_CACHE", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert datasets.where("seeds") == (None, None)
    with pytest.raises(ImportError, match="pip install"):
        datasets.fetch("seeds")


def test_a_short_answer_is_noticed_even_if_the_connection_ends_well(tmp_path: Path) -> None:
    requests = pytest.importorskip("requests")

    class Short:
        headers = {"Content-Length": "10"}  # noqa: RUF012

        def iter_content(self, size: int) -> list[bytes]:
            return [b"five!"]

    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        _write(requests, Short(), tmp_path / "file.part", 0)
    assert (tmp_path / "file.part").read_bytes() == b"five!"
