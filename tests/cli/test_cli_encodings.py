"""Tables in any encoding: given, shown by a mark, or found out with a note; names that go over several lines."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sslart
from sslart._tables import files
from sslart._tables.files import read_pieces, read_table
from sslart._tables.text import Utf8Stream
from sslart.cli import main
from sslart.cli._line_reader import MAX_HEADER_LINES, LineReader

Captured = pytest.CaptureFixture[str]
TEXT = "Größe;Straße;Preis\n1,5;Äcker;€ 1\n2,5;Öfen;„zwei“\n"
SWATCHES = "größe,farbe,art\n" + "".join(
    f"{size},{'grün' if size < 5 else 'weiß'},{'süß' if size < 5 else 'herb'}\n" for size in range(10)
)


def table(folder: Path, content: bytes) -> str:
    path = folder / "table.csv"
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_an_encoding_is_found_out(encoding: str, tmp_path: Path, capsys: Captured) -> None:
    frame = read_table(table(tmp_path, TEXT.encode(encoding)))
    assert frame.to_dict("list") == {"Größe": ["1.5", "2.5"], "Straße": ["Äcker", "Öfen"], "Preis": ["€ 1", "„zwei“"]}
    noted = capsys.readouterr().err
    assert ("is read as Windows-1252 (Latin-1), such as 'Größe'" in noted) == (encoding == "cp1252")
    assert ("--encoding" in noted) == (encoding == "cp1252")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_both_orders_of_utf_16_are_recognised_by_their_mark(mark: bytes, tmp_path: Path) -> None:
    name = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert list(read_table(table(tmp_path, mark + TEXT.encode(name)))) == ["Größe", "Straße", "Preis"]


@pytest.mark.parametrize("encoding", ["cp1251", "cp437", "shift_jis", "utf-16-le", "utf-16", "latin-1"])
def test_a_given_encoding_is_used_without_a_note(encoding: str, tmp_path: Path, capsys: Captured) -> None:
    word = {"cp1251": "цвет", "shift_jis": "色"}.get(encoding, "é")
    frame = read_table(table(tmp_path, f"{word},b\n1,{word}\n".encode(encoding)), encoding)
    assert frame.to_dict("list") == {word: ["1"], "b": [word]}
    assert capsys.readouterr().err == ""


def test_a_given_encoding_that_is_wrong_or_unknown_is_refused(tmp_path: Path) -> None:
    data = table(tmp_path, TEXT.encode("cp1252"))
    with pytest.raises(ValueError, match="is not text in utf-8: name its encoding with --encoding"):
        read_table(data, "utf-8")
    for name in ("klingon", "hex", "rot13"):
        with pytest.raises(ValueError, match=f"There is no encoding '{name}'"):
            read_table(data, name)


@settings(max_examples=60, deadline=None)
@given(
    st.text("aé€\u20acß🌍 ", min_size=1, max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.integers(1, 9)
)
@example("é", "utf-8", 1)
def test_text_in_pieces_of_any_size_is_the_text_at_once(text: str, encoding: str, n_bytes: int) -> None:
    content = text.encode(encoding)
    stream = Utf8Stream(None)
    pieces = [stream.read(content[start : start + n_bytes]) for start in range(0, len(content), n_bytes)]
    assert b"".join([*pieces, stream.read(b"", is_over=True)]).decode().lstrip("\ufeff") == text


def test_an_encoding_is_found_out_in_small_pieces_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("utf-8", "utf-16", "cp1252"):
        data = table(tmp_path, (TEXT + "3;x;y\n" * 20).encode(encoding))
        with monkeypatch.context() as patched:
            for size in (1, 7):
                patched.setattr(files, "BYTES_PER_PIECE", size)
                assert pd.concat(read_pieces(data)).equals(read_table(data))


def test_a_last_letter_without_a_line_end_is_read(tmp_path: Path) -> None:
    assert read_table(table(tmp_path, b"a,b\n1,caf\xe9"))["b"].tolist() == ["café"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_name_in_quotes_may_have_line_ends_and_separators(separator: str, end: str, tmp_path: Path) -> None:
    names = [f"first{end}name", "weight, kg; ", 'the "best"']
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        header = separator.join([*(quoted[place] for place in order), "last"])
        content = f"{header}{end}1{separator}2{separator}3{separator}4{end}"
        frame = read_table(table(tmp_path, content.encode()))
        assert list(frame) == [*(names[place].strip() for place in order), "last"]
        assert frame.iloc[0].tolist() == ["1", "2", "3", "4"]
        reader, lines = LineReader(), content.encode().rstrip(b"\r\n").split(b"\n")
        rows = [row for row in map(reader.read, lines) if row is not None]
        assert [list(row.values()) for row in rows] == [["1", "2", "3", "4"]]
        assert reader.names == list(frame)


def test_a_quote_that_is_not_closed_in_the_header_of_a_stream_ends_it() -> None:
    reader = LineReader()
    for line in [b'"a,b', *[b"1,2"] * (MAX_HEADER_LINES - 2)]:
        assert reader.read(line) is None
    for end in (reader.end, lambda: reader.read(b"1,2")):
        with pytest.raises(ValueError, match="Correct its quotes"):
            end()


def test_every_command_reads_a_table_in_its_encoding(tmp_path: Path, capsys: Captured) -> None:
    data, model, out = table(tmp_path, SWATCHES.encode("cp850")), str(tmp_path / "m.sslart"), str(tmp_path / "out.csv")
    given = ["--encoding", "cp850"]
    assert main(["fit", data, "--label", "art", "--out", model, "--quiet", *given]) == 0
    assert sslart.load(model).feature_names_in_.tolist() == ["größe", "farbe"]
    for command in (
        ["predict", model, data, "--out", out, "--quiet"],
        ["explain", model, data, "--row", "1"],
        ["explain", model, data, "--global"],
        ["what-if", model, data, "--row", "1"],
        ["rules", model, data, "--label", "art"],
        ["update", model, data, "--label", "art", "--quiet"],
        ["watch", model, data, "--learn", "none", "--quiet"],
    ):
        assert main([*command, *given]) == 0, command
        assert main([*command, "--encoding", "utf-8"]) == 1, command
    assert "größe" in capsys.readouterr().out
    assert set(pd.read_csv(out)["class"]) == {"süß", "herb"}


@pytest.mark.parametrize("command", ["label", "report"])
def test_commands_that_take_longer_have_the_option_too(command: str, capsys: Captured) -> None:
    assert main([command, "--help"]) == 0
    assert "--encoding" in capsys.readouterr().out


def test_a_stream_in_utf_16_is_read_by_its_mark_and_its_bad_rows_are_kept(tmp_path: Path, capsys: Captured) -> None:
    data, model = table(tmp_path, SWATCHES.encode()), str(tmp_path / "m.sslart")
    assert main(["fit", data, "--label", "art", "--out", model, "--quiet"]) == 0
    rows = ("größe,farbe\n1,grün\n".encode("utf-16"), b"9\x00,\x00\x00\xd8\n\x00", "8,weiß\n".encode("utf-16-le"))
    stream = tmp_path / "stream"
    stream.write_bytes(b"".join(rows))
    assert main(["watch", model, str(stream), "--learn", "none", "--quiet"]) == 0
    assert [json.loads(line)["row"] for line in capsys.readouterr().out.splitlines()] == [1, 3]
    (kept,) = (tmp_path / "m.sslart.rejects.jsonl").read_text().splitlines()
    assert "--encoding" in json.loads(kept)["reason"]
