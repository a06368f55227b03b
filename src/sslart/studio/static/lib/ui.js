// One place from which every module takes preact, htm and signals.
import { Component, Fragment, createContext, createPortal, h, render } from "../vendor/preact.js";
import {
  useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState,
} from "../vendor/preact-hooks.js";
import { batch, computed, effect, signal, untracked } from "../vendor/signals-core.js";
import { useComputed, useSignal, useSignalEffect } from "../vendor/signals.js";
import htm from "../vendor/htm.js";

const html = htm.bind(h);

export {
  Component, Fragment, batch, computed, createContext, createPortal, effect, h, html, render, signal, untracked,
  useCallback, useComputed, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useSignal,
  useSignalEffect, useState,
};
