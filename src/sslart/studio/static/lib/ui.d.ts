// Types of what `ui.js` takes from the vendored libraries, for `make lint`; not part of the wheel.
type Cleanup = void | (() => unknown);
/** Of an empty object nothing is known yet: its properties are not checked. */
type Loose<T> = {} extends T ? any : T;

export interface Signal<T> {
  value: T;
  peek(): T;
  subscribe(listener: (value: T) => void): () => void;
}

export class Component<P = any, S = any> {
  constructor(props: P);
  props: P;
  state: S;
  setState(state: Partial<S>): void;
}
export const Fragment: unknown;
export function createContext<T>(value: T): any;
export function createPortal(node: any, container: Element): any;
export function h(type: any, props: object | null, ...children: any[]): any;
export function render(node: any, container: Element): void;
export function html(strings: TemplateStringsArray, ...values: any[]): any;

export function useCallback<F extends Function>(callback: F, inputs: readonly unknown[]): F;
export function useEffect(effect: () => Cleanup, inputs?: readonly unknown[]): void;
export function useErrorBoundary(callback?: (error: any) => void): [any, () => void];
export function useId(): string;
export function useLayoutEffect(effect: () => Cleanup, inputs?: readonly unknown[]): void;
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useRef<T = any>(value: T): { current: Loose<T> };
export function useState<T = any>(value: T | (() => T)): [Loose<T>, (next: Loose<T> | ((before: Loose<T>) => Loose<T>)) => void];

export function batch<T>(change: () => T): T;
export function computed<T>(compute: () => T): Signal<T>;
export function effect(run: () => Cleanup): () => void;
export function signal<T = any>(value: T): Signal<Loose<T>>;
export function untracked<T>(read: () => T): T;
export function useComputed<T>(compute: () => T): Signal<T>;
export function useSignal<T = any>(value: T): Signal<T>;
export function useSignalEffect(run: () => Cleanup): void;
