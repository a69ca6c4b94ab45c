// What the whole page shares: where it stands, how it looks, and the documents that it has.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask, inReport, isReport, reportSubject, stopped, type Question } from "./api";
import type { Doc, Subject } from "./api";
import { showRuntimeNames } from "./text";

/** Where the page stands: #/PAGE/ARGUMENT?NAME=VALUE. The values are how its parts are sorted, filtered and zoomed. */
export interface Route { page: string; arg: string; state: Record<string, string> }

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/");
  let arg = rest.join("/");
  try { arg = decodeURIComponent(arg); } catch { /* as it stands */ }
  return { page: page || "overview", arg, state: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a place: only values that are not empty stand in it. */
export function address(r: Route): string {
  const query = new URLSearchParams(Object.entries(r.state).filter(([, v]) => v !== "")).toString();
  return `#/${r.page}${r.arg ? "/" + encodeURIComponent(r.arg) : ""}${query ? "?" + query : ""}`;
}

export const route = signal<Route>(parseRoute(typeof location === "undefined" ? "" : location.hash));

/** How far down each place of the history was scrolled. Places have numbers, which the history keeps. */
const scrolled = new Map<number, number>();
let place = 0, goal = 0;
const numberOf = (state: unknown): number | undefined => (state as { place?: number } | null)?.place;

/** How far down the page stood when it was left; 0 where it is new. */
export const lastScroll = (): number => goal;

if (typeof addEventListener !== "undefined") {
  place = numberOf(history.state) ?? 0;
  history.replaceState({ place }, "");
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => scrolled.set(place, scrollY), { passive: true });
  addEventListener("hashchange", () => {
    const known = numberOf(history.state);
    place = known ?? Math.max(place, ...scrolled.keys()) + 1;
    if (known === undefined) history.replaceState({ place }, "");
    // The page that comes next may be shorter at first, which scrolls it.
    goal = scrolled.get(place) ?? 0;
    route.value = parseRoute(location.hash);
  });
}

export const link = (page: string, arg = "", state: Record<string, string> = {}): string => address({ page, arg, state });
export const go = (page: string, arg = "", state: Record<string, string> = {}): void => { location.hash = link(page, arg, state); };

/** When a step was last added to the history. */
let stepped = 0;
/** Changes that follow each other as fast as this, in ms, are one step: a wheel turns, and a pointer drags. */
const oneStep = 1000;

/** A value of the page's state, which its address has: who opens the address again, sees the same. With step, Back returns to the value before. */
export function useParam(name: string, other = "", step = false): [string, (v: string) => void] {
  return [route.value.state[name] ?? other, (v) => {
    const state = { ...route.value.state, [name]: v };
    if (v === other) delete state[name];
    route.value = { ...route.value, state };
    const now = Date.now();
    if (step && now - stepped > oneStep) {
      place = Math.max(place, ...scrolled.keys()) + 1;
      scrolled.set(place, scrollY);
      history.pushState({ place }, "", address(route.value));
    } else history.replaceState({ place }, "", address(route.value));
    if (step) stepped = now;
  }];
}

/** All pages are shown, one below the other: for paper. */
export const printing = signal(false);

export const subject = signal<Subject>(reportSubject() ?? { file: "" });

export type Theme = "auto" | "light" | "dark";
export const theme = signal<Theme>("auto");

/** Remembers the choice where the browser lets it. */
export function chooseTheme(t: Theme): void {
  theme.value = t;
  if (t === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = t;
  try { localStorage.setItem("sosgo-theme", t); } catch { /* a file may not remember */ }
}

const namesKept = "sosgo-names";

/** Shows names as the runtime has them, or as people write them. Charts and tables are made anew with the page. */
export function chooseNames(runtime: boolean): void {
  try { localStorage.setItem(namesKept, runtime ? "runtime" : ""); } catch { return; }
  location.reload();
}

/** Names are shown as the runtime has them. */
export function startNames(): boolean {
  let kept: string | null = null;
  try { kept = localStorage.getItem(namesKept); } catch { /* a file may not remember */ }
  showRuntimeNames(kept === "runtime");
  return kept === "runtime";
}

/** Changes when the system turns dark or light: what is drawn with colours is drawn anew. */
export const shade = signal(0);

export function startTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { shade.value++; });
  let t: string | null = null;
  try { t = localStorage.getItem("sosgo-theme"); } catch { /* as above */ }
  chooseTheme(t === "light" || t === "dark" ? t : "auto");
}

/** Colours of the page as a canvas needs them. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export const isDark = (): boolean => colour("--dark") === "1";

const kept = new Map<string, { doc: Promise<Doc<unknown>>; stop: AbortController }>();
const ready = new Map<string, Doc<unknown>>();
/** Documents that are asked for again. */
const again = signal(0);

const keyOf = (q: Question): string => JSON.stringify([q.words, q.count, q.from ?? 0]);

/** Forgets the document of q, so that it is asked for anew. */
export function retry(q: Question): void {
  ready.delete(keyOf(q));
  again.value++;
}

/** Forgets all documents: there is another dump. */
export function forget(): void {
  kept.clear();
  ready.clear();
}

/** Stops the command that answers q. */
export const stop = (q: Question): void => kept.get(keyOf(q))?.stop.abort();

/** The document that answers q, undefined until it is there. It is kept for other pages; only with leave set it is given up when
 * nobody shows it any more. */
export function useDoc<T>(q: Question | undefined, leave = false): Doc<T> | undefined {
  const key = q ? keyOf(q) : "";
  const [shown, show] = useState<{ key: string; doc: Doc<T> }>();
  const known = q && (isReport ? inReport<T>(q) : ready.get(key) as Doc<T> | undefined);
  const round = again.value;
  useEffect(() => {
    if (!q || isReport) return;
    const there = ready.get(key) as Doc<T> | undefined;
    if (there) {
      if (!known) show({ key, doc: there }); // it came after this was drawn
      return;
    }
    let here = true;
    let asked = kept.get(key);
    if (!asked) {
      const stop = new AbortController();
      kept.set(key, asked = { stop, doc: ask<unknown>(q, stop.signal).catch(() => stopped(q)) });
    }
    const mine = asked;
    mine.doc.then((doc) => {
      if (kept.get(key) === mine) kept.delete(key);
      if (here || doc.error?.kind !== "page") ready.set(key, doc);
      if (here) show({ key, doc: doc as Doc<T> });
    });
    return () => { here = false; if (leave && kept.get(key) === mine) { kept.delete(key); mine.stop.abort(); } };
  }, [key, round]);
  return known ?? (shown?.key === key && ready.has(key) ? shown.doc : undefined);
}
