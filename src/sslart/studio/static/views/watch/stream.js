// Comparison of arriving rows, updated every few seconds unless paused.
import { useEffect, useRef, useState } from "../../lib/ui.js";
import { api, model } from "../../lib/api.js";
import { onEvent } from "../../lib/events.js";
import { useFollowed } from "../../lib/load.js";
import { say, sequence } from "../../lib/state.js";
import { t } from "../../lib/texts.js";

const SECONDS_TO_COMPARE = 1;
const SECONDS_TO_SAY = 8; // between two sentences that are read out
const MOST_RECENT = 8;
const NONE = { n: 0, novel: 0, abstained: 0, recent: [] };

function added(before, rows) {
  return {
    n: before.n + rows.length,
    novel: before.novel + rows.filter((one) => one.novel).length,
    abstained: before.abstained + rows.filter((one) => one.abstained).length,
    recent: [...before.recent, ...rows].slice(-MOST_RECENT),
  };
}

/** Batches rows: a table causes thousands of events at once. */
function useArrivals(name) {
  const [arrived, setArrived] = useState(NONE);
  const [said, setSaid] = useState("");
  const work = useRef({ rows: [], unsaid: NONE, timer: null, sayer: null });
  useEffect(() => {
    const now = work.current;
    const tell = () => {
      now.sayer = null;
      setSaid(t("watch.came", { n: now.unsaid.n, novel: now.unsaid.novel }));
      now.unsaid = NONE;
    };
    const pass = () => {
      const rows = now.rows;
      [now.rows, now.timer] = [[], null];
      now.unsaid = added(now.unsaid, rows);
      setArrived((before) => added(before, rows));
      now.sayer ??= setTimeout(tell, 1000 * SECONDS_TO_SAY);
    };
    const leave = onEvent("decision", (data) => {
      if (data.model !== name) return;
      now.rows.push(data);
      now.timer ??= setTimeout(pass, 1000 * SECONDS_TO_COMPARE);
    });
    return () => {
      leave();
      clearTimeout(now.timer);
      clearTimeout(now.sayer);
    };
  }, [name]);
  return { arrived, said };
}

/**
 * Rows since the last fit. Labels given here may trigger a fit; the view keeps showing the rows from `begin.row` on, the
 * first row after the last fit when the view was opened.
 */
async function sinceFit(name, begin) {
  const found = await api.get(model("/watch", name));
  begin.row ??= found.since;
  if (begin.row >= found.since) return found;
  return { ...(await api.get(`${model("/watch", name)}?last=${found.since + found.n_rows - begin.row}`)), isOlder: true };
}

export function useStream(name) {
  const { arrived, said } = useArrivals(name);
  const begin = useRef({ row: null });
  const [last, setLast] = useState("");
  const [table, setTable] = useState(null);
  const [paused, setPaused] = useState(null); // { n, sequence } when it was paused
  const [drifts, setDrifts] = useState(0);
  useEffect(() => onEvent("drift", (data) => {
    if (data.model !== name) return;
    say(t("watch.drift_found", { text: data.description }), { seconds: 20 });
    setDrifts((n) => n + 1);
  }), [name]);
  const seen = paused ?? { n: arrived.n, sequence: sequence.value };
  const found = useFollowed(
    () => (last === "" ? sinceFit(name, begin.current) : api.get(`${model("/watch", name)}?last=${last}`)), [name, last, seen.n, seen.sequence, drifts],
  );
  return {
    ...found,
    value: table?.answer ?? found.value,
    table: table?.file ?? null,
    showTable: (file, answer) => setTable({ file, answer }),
    showStream: () => setTable(null),
    last,
    setLast,
    beginAnew: () => {
      begin.current.row = null;
      found.again();
    },
    arrived,
    said,
    isPaused: paused !== null,
    missed: paused === null ? 0 : arrived.n - paused.n,
    pause: (on) => setPaused(on ? seen : null),
  };
}
