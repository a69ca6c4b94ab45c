// What the page and its worker send each other.

import type { Progress } from "../api";

/** The first message to a worker: the program and its files. */
export interface Begin { program: WebAssembly.Module; dump: File; modules: File[] }

/** A question to the worker. */
export type Request = { words: string[]; from: number; count: number; last: boolean; list: string } | { line: string } | { complete: string };

export type Message =
  | { progress: [done: number, total: number] }
  | { at: Progress }
  | { opened: true }
  | { answer: string }
  | { failed: { text: string; advice: string } };
