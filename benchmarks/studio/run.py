"""Run all benchmarks of the studio, and write docs/studio_benchmarks.md.

Run in `benchmarks`: `python -m studio.run`, which `make bench-studio` does.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from machine import description
from sslart._utils.text import plural
from studio import answers, frames, live
from studio.tables import FRESH, LOOKED_AT, NOT_LOOKED_AT

PAGE = Path(__file__).parents[2] / "docs" / "studio_benchmarks.md"
POINTS, BOXES, LABELLED = 1_000_000, 2000, 2000


def page(options: argparse.Namespace) -> str:
    """Measure everything; return the page."""
    load = os.getloadavg()[0]
    drawn = frames.table(options.chromium, POINTS, BOXES, LABELLED)
    version, maps, answered = live.measured(options.maps, options.labelled, options.answers, options.chromium)
    fresh, new, known = (
        answers.group(sources, options.seeds, answers.ANSWERS, lambda text: print(text, flush=True))
        for sources in (FRESH, NOT_LOOKED_AT, LOOKED_AT)
    )
    return f"""# Benchmarks of the studio

Written by `make bench-studio`. {description("playwright")}; Chromium {version}, without a window and without a graphics
card: everything is drawn by the processor. Before the run, the load average of the machine was {load:.1f}.

## The map
A table of 20 features in 3 classes, of which 30 rows have a label (`make_classification` of scikit-learn), is sent to
the studio, which runs in a process of its own. The first image is timed from the moment when the page is asked for,
after the fit has ended, until points are to be seen. Then the map is dragged and zoomed with the mouse for 8 seconds; a
frame is the time between two calls of `requestAnimationFrame`.

{maps}

The part that draws, by itself, with arrays at hand: {POINTS:,} points in clusters, {BOXES:,} boxes and {LABELLED:,}
labelled points.

{drawn}

## An answer
In the view Label of the same kind of table, keys are pressed three seconds apart. Timed from the key to the next
question, to the label in the store, and to the accuracy that takes it into account.

{answered}

## Thirty answers
Real tables, of which the studio gets at most 2,000 rows and no label. A script answers 30 questions with the true
class. Each question lists the sample with the seven most like it, or the samples of its box: where all of them are of
one class, the answer is given to all, as a careful person would do who looks at the list. Beside it: 30 labels of
single samples in a random order. The accuracy is measured on other rows, and compared with that of `AutoSSLART` fitted
to the same rows with all their labels. Means over {plural(options.seeds, "draw")} of the rows. Classes with fewer than
5 % of the rows are left out.

These five tables were chosen before anything of this project had been measured on them, and nothing was changed after.

{fresh.text}

The next ones are all sets of KEEL that have enough rows for 2,000 to label and others to measure, and at most ten
classes; those that had part in how questions are chosen are left out. They had been measured before: when questions
listed no similar samples and labels of one answer were left out one by one, thirty answers were enough on 5 of the 6.

{new.text}

How questions are chosen was settled with a view to these tables, among others; some of them have fewer than 2,000
rows. At first all of the 30 questions on ring were about one class, since they were all about samples among many
others: since then every sixth question is drawn at random. On voters and juices they were about samples in the middle
of boxes, and thirty answers led to 60.6 and 79.3 % of the accuracy with all labels: since then the samples that are
considered are drawn at random, too. That a question lists the most similar samples was chosen on storms, spam, rodents,
computing jobs, cells, aircraft, ring, and segment and phoneme of KEEL.

{known.text}

The accuracy that is shown while a table is labelled is checked in [trust.md](trust.md).
"""


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maps", type=int, nargs="*", default=[100_000, 1_000_000], help="rows of tables to draw")
    parser.add_argument("--labelled", type=int, nargs="*", default=[2_000, 100_000], help="rows of tables to label")
    parser.add_argument("--answers", type=int, default=8, help="answers that are timed")
    parser.add_argument("--seeds", type=int, default=2, help="draws of the rows")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="its executable")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    options.out.write_text(page(options), encoding="utf-8")


if __name__ == "__main__":
    main()
