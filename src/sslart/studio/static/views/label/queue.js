// Prefetched questions, so that the next one appears at once after an answer.
import { batch, useEffect, useMemo, useSignal, useSignalEffect, signal, untracked } from "../../lib/ui.js";
import { api, model, pause } from "../../lib/api.js";
import { onEvent } from "../../lib/events.js";
import { labelRows, leftOverSent, undone } from "../../lib/labels.js";
import { fail, modelName, person, properties, sequence, setProperty } from "../../lib/state.js";

const AHEAD = 6;
const ENOUGH = 3; // questions that are there: newer ones can wait until the quality is known
const SECONDS_FOR_QUALITY = 0.6;
const MOST_SKIPPED = 900; // as many as the service takes in a request
const MOST_REMEMBERED = 100;

class Queue {
  constructor(name) {
    this.name = name;
    this.questions = signal([]);
    this.remaining = signal(null);
    this.error = signal(null);
    this.isLoading = signal(false);
    this.last = signal(null); // { question, label, rows } of the last answer
    this.answered = [];
    this.rows = new Set(); // that were answered here
    this.expected = new Map(); // how often the service is yet to tell of a row what was done here
    this.elsewhere = signal(new Map()); // who has given a label to rows, in any tab, since this one was opened
    this.isStale = false;
  }

  get skipped() {
    const kept = properties.value.skipped;
    return Array.isArray(kept) ? kept : [];
  }

  async load() {
    if (this.isLoading.value) {
      this.isStale = true;
      return;
    }
    this.isLoading.value = true;
    do {
      this.isStale = false;
      if (this.questions.value.length >= ENOUGH) await pause(SECONDS_FOR_QUALITY);
      try {
        await leftOverSent();
        const skip = [...new Set([...this.skipped, ...[...this.rows].slice(-200)])].slice(-MOST_SKIPPED).map((row) => `&skip=${row}`);
        const found = await api.get(`${model("/questions", this.name)}?n=${AHEAD}${skip.join("")}`);
        this.take(found);
      } catch (error) {
        this.error.value = error;
      }
    } while (this.isStale);
    this.isLoading.value = false;
  }

  /** Keep the question that is shown, and take newer ones for the rest. */
  take({ questions, remaining }) {
    const isOpen = (one) => !this.rows.has(one.row) && !this.skipped.includes(one.row);
    const shown = this.questions.value[0];
    const rest = questions.filter((one) => isOpen(one) && one.row !== shown?.row);
    batch(() => {
      this.error.value = null;
      this.remaining.value = remaining;
      this.questions.value = shown ? [shown, ...rest] : rest;
    });
  }

  next() {
    this.questions.value = this.questions.value.slice(1).filter((one) => !this.rows.has(one.row));
  }

  putBack(question) {
    this.questions.value = [question, ...this.questions.value.filter((one) => one.row !== question.row)];
  }

  async answer(label, isWhole) {
    const question = this.questions.value[0];
    const rows = isWhole ? question.rows : [question.row];
    this.answered = [...this.answered, question].slice(-MOST_REMEMBERED);
    for (const row of rows) this.rows.add(row);
    this.expect(rows, 1);
    batch(() => {
      this.last.value = { question, label, rows };
      this.next();
    });
    try {
      const areNew = !rows.some((row) => this.elsewhere.value.has(row));
      await labelRows(rows, label, { previous: areNew ? rows.map(() => null) : undefined, drawn: question.at_random ? question.row : null });
    } catch (error) {
      fail(error);
      this.expect(rows, -1);
      this.reopen(rows);
    }
  }

  /** Note that the service will tell of rows: of an answer it may do so after the answer was taken back. */
  expect(rows, times) {
    for (const row of rows) this.expected.set(row, (this.expected.get(row) ?? 0) + times);
  }

  isExpected(row) {
    const times = this.expected.get(row) ?? 0;
    if (times > 0) this.expected.set(row, times - 1);
    return times > 0;
  }

  /** Rows that are to be asked about again: their label was taken back or refused. */
  reopen(rows) {
    for (const row of rows) this.rows.delete(row);
    const question = this.answered.findLast((one) => rows.includes(one.row));
    batch(() => {
      if (this.last.value && rows.includes(this.last.value.question.row)) this.last.value = null;
      if (question) {
        this.answered = this.answered.filter((one) => one !== question);
        this.putBack(question);
      }
    });
    if (!question) this.load();
  }

  /** Note labels that were given in another tab. What I answered there is not asked here; what others did stays in sight. */
  labelled({ rows, by }) {
    const news = rows.filter((row) => !this.isExpected(row) && !this.rows.has(row));
    if (!news.length) return;
    const isMine = by === person.value;
    batch(() => {
      this.elsewhere.value = new Map([...this.elsewhere.value, ...news.map((row) => [row, by])]);
      this.questions.value = this.questions.value.filter((one, at) => (at === 0 && !isMine) || !news.includes(one.row));
    });
  }

  skip() {
    const { row } = this.questions.value[0];
    setProperty("skipped", [...this.skipped, row].slice(-MOST_SKIPPED)).catch(fail);
    this.next();
    this.load();
  }

  askSkipped() {
    setProperty("skipped", []).catch(fail);
    this.load();
  }
}

/** The questions about the chosen model. */
export function useQueue() {
  const name = modelName.value;
  const queue = useMemo(() => new Queue(name), [name]);
  const taken = useSignal(undone.peek());
  useEffect(() => {
    queue.load();
  }, [queue, sequence.value]);
  useEffect(() => onEvent("labels", (data) => queue.labelled(data)), [queue]);
  useSignalEffect(() => {
    const rows = undone.value;
    if (rows === taken.peek()) return;
    taken.value = rows;
    untracked(() => {
      queue.expect(rows, 1);
      queue.reopen(rows);
    });
  });
  return queue;
}
