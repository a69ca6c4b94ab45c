// What the whole page shares: where it stands, how it looks, and the documents that it has.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask, type Question } from "./api";
import type { Doc, Subject } from "./api";

export interface Route { page: string; arg: string }

const parse = (): Route => {
  const [page = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  let arg = rest.join("/");
  try { arg = decodeURIComponent(arg); } catch { /* as it stands */ }
  return { page: page || "overview", arg };
};

export const route = signal<Route>(parse());
addEventListener("hashchange", () => { route.value = parse(); });

export const link = (page: string, arg = ""): string => `#/${page}${arg ? "/" + encodeURIComponent(arg) : ""}`;
export const go = (page: string, arg = ""): void => { location.hash = link(page, arg); };

export const subject = signal<Subject>({ file: "" });

export type Theme = "auto" | "light" | "dark";
export const theme = signal<Theme>("auto");

/** Remembers the choice where the browser lets it. */
export function chooseTheme(t: Theme): void {
  theme.value = t;
  if (t === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = t;
  try { localStorage.setItem("sosgo-theme", t); } catch { /* a file may not remember */ }
}

export function startTheme(): void {
  let t: string | null = null;
  try { t = localStorage.getItem("sosgo-theme"); } catch { /* as above */ }
  chooseTheme(t === "light" || t === "dark" ? t : "auto");
}

/** Colours of the page as a canvas needs them. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export const isDark = (): boolean => colour("--dark") === "1";

const kept = new Map<string, Promise<Doc<unknown>>>();
const ready = new Map<string, Doc<unknown>>();

/** The document that answers q, undefined until it is there. It is kept for other pages; only with leave set it is given up when
 * nobody shows it any more. */
export function useDoc<T>(q: Question | undefined, leave = false): Doc<T> | undefined {
  const key = q ? JSON.stringify([q.words, q.count]) : "";
  const [shown, show] = useState<{ key: string; doc: Doc<T> }>();
  const known = ready.get(key) as Doc<T> | undefined;
  useEffect(() => {
    if (!q || ready.has(key)) return;
    let here = true;
    const stop = new AbortController();
    let asked = kept.get(key) as Promise<Doc<T>> | undefined;
    if (!asked) {
      asked = ask<T>(q, leave ? stop.signal : undefined);
      kept.set(key, asked);
    }
    asked.then((doc) => {
      if (doc.error?.kind !== "page") ready.set(key, doc);
      else kept.delete(key);
      if (here) show({ key, doc });
    }, () => kept.delete(key));
    return () => { here = false; if (leave && !ready.has(key)) { stop.abort(); kept.delete(key); } };
  }, [key]);
  return known ?? (shown?.key === key ? shown.doc : undefined);
}
