// Data requested by a component: the last response is shown until the next arrives; outdated ones are dropped.
import { useEffect, useRef, useState } from "./ui.js";

/** Returns { data, error, loading, again }. `load` gets an AbortSignal; null for `load` asks for nothing. */
export function useLoaded(load, inputs) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const [attempt, setAttempt] = useState(0);
  const last = useRef(0);
  useEffect(() => {
    const mine = ++last.current;
    if (!load) {
      setState({ data: null, error: null, loading: false });
      return undefined;
    }
    const stop = new AbortController();
    setState((before) => ({ ...before, error: null, loading: true }));
    load(stop.signal).then(
      (data) => mine === last.current && setState({ data, error: null, loading: false }),
      (error) => mine === last.current && error?.name !== "AbortError" && setState({ data: null, error, loading: false }),
    );
    return () => stop.abort();
  }, [...inputs, attempt]);
  return { ...state, again: () => setAttempt(attempt + 1) };
}
