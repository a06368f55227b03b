// Data loaded from the service for a component: the newest response wins, the last one is shown until then.
import { useEffect, useRef, useState } from "./ui.js";

const NOTHING = { value: null, error: null, isLoading: true };

/**
 * `useLoad((signal) => api.get(path, { signal }), [path])` → { value, error, isLoading, again }
 * What is under way when the inputs change is stopped. With `useFollowed` it is not: the service is asked for what changes
 * with every answer of a person again when it has answered, and shows each answer on the way.
 */
export function useLoad(load, inputs) {
  const [state, setState] = useState(NOTHING);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    Promise.resolve(load(stop.signal)).then(
      (value) => !stop.signal.aborted && setState({ value, error: null, isLoading: false }),
      (error) => !stop.signal.aborted && setState((before) => ({ value: before.value, error, isLoading: false })),
    );
    return () => stop.abort(new DOMException("No longer wanted", "AbortError"));
  }, [...inputs, attempt]);
  return { ...state, again: () => setAttempt((n) => n + 1) };
}

/** As useLoad, for what follows the model: `load` is called with the newest inputs, one call at a time. */
export function useFollowed(load, inputs) {
  const [state, setState] = useState(NOTHING);
  const [attempt, setAttempt] = useState(0);
  const work = useRef({ load, isBusy: false, isStale: false, isGone: false });
  work.current.load = load;
  const run = async () => {
    const now = work.current;
    now.isStale = now.isBusy;
    if (now.isBusy) return;
    now.isBusy = true;
    do {
      now.isStale = false;
      try {
        const value = await now.load();
        if (!now.isGone) setState({ value, error: null, isLoading: now.isStale });
      } catch (error) {
        if (!now.isGone) setState((before) => ({ ...before, error, isLoading: now.isStale }));
      }
    } while (now.isStale && !now.isGone);
    now.isBusy = false;
  };
  useEffect(() => {
    run();
  }, [...inputs, attempt]);
  useEffect(() => () => {
    work.current.isGone = true;
  }, []);
  return { ...state, again: () => setAttempt((n) => n + 1) };
}
