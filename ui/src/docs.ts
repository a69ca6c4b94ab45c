// The documents that the pages show, as docs/json.md describes them. Any field may be absent, and a name
// that the dump does not have is null.

export interface Problem { text: string; kind: string; count?: number; advice?: string; exit?: number }
export interface Part { from: number; listed: number; of: number }
export interface Doc<T> {
  command: string; schema: number; result?: T; warnings?: Problem[]; error?: Problem;
  lists?: Record<string, Part>; shortened?: boolean;
}

export type Address = string;
/** A name, null where it can't be read. */
export type Name = string | null;

export interface Verdict { text: string; strength?: string; evidence?: string[] }
export interface ThreadRef { index?: number; osId?: number; managedId?: number; name?: string; thread?: Address }

export interface TraceFrame { ip?: Address; function?: string; file?: string; line?: number }
export interface Exception { address?: Address; type?: Name; message?: Name; inner?: Address; frames?: TraceFrame[] }
export interface Activity { kind?: string; text?: string; topFrame?: string; callerFrame?: string }
export interface Crash {
  reason?: string; code?: string; address?: Address; where?: string; osThreadId?: number; threadName?: string; likely?: string;
  verdicts?: Verdict[]; exceptions?: Exception[];
  carried?: { thread?: ThreadRef; state?: string; exception?: Address; type?: Name; message?: Name }[];
  stack?: { ip?: Address; method?: string; file?: string; line?: number; repeat?: number; cycle?: number }[];
  touched?: { address?: Address; access?: string; what?: string };
  failFast?: { message?: string };
}

export interface TypeCount { methodTable?: Address; count: number; size: number; type: Name }
export interface Heap { statistics?: TypeCount[]; count?: number; size?: number }

export interface Thread extends ThreadRef {
  state?: Address; gcMode?: string; lockCount?: number; special?: string[]; exception?: { address?: Address; type?: Name }; activity?: Activity;
}
export interface Threads { threads?: Thread[]; counts?: Record<string, number> }
export interface StackFrame { ip?: Address; name?: Name; module?: Name; file?: string; line?: number }
export interface Stacks { stacks?: { osId?: number; managedId?: number; name?: string; frames?: StackFrame[] }[] }
export interface Variable { name?: string; index?: number; type?: Name; state?: string; value?: string; word?: Address }
export interface Frame {
  osId?: number; kind?: string; sp?: Address; ip?: Address; trust?: string; method?: Name; exact?: Name; frame?: string; module?: Name; symbol?: string;
  offset?: number; file?: string; line?: number; arguments?: Variable[]; locals?: Variable[]; error?: string; repeat?: number; methodDesc?: Address;
}
export interface Frames { frames?: Frame[] }

export interface GenerationStat { generation: string; allocated?: number; committed?: number; live?: number; free?: number; dead?: number; incomplete?: boolean }
export interface Generations { heaps?: { heap: number; generations?: GenerationStat[] }[] }
export interface Range { start?: Address; end?: Address }
export interface Segments {
  gc?: { server?: boolean; regions?: boolean; inCollection?: boolean; heaps?: number; allocated?: number; committed?: number;
    segments?: { heap: number; address?: Address; kind?: string; objects?: Range; committed?: Range }[] };
}
export interface Cell { size: number; objects?: number; used?: number; free?: number; unread?: number }
export interface HeapMap {
  cellSize?: number; parts?: { heap: number; segment?: Address; generation?: string; used?: number; free?: number; committed?: number; pinned?: number; cells?: Cell[] }[];
}

export interface ObjectRef { address?: Address; methodTable?: Address; type?: Name; size?: number; generation?: string }
export interface Edge { kind?: string; name?: string; more?: boolean }
export interface Root {
  kind?: string; name?: string; object?: Address; address?: Address; variable?: string; place?: string; handle?: string;
  thread?: { index?: number; osThread?: number; managedThread?: number; name?: string }; frame?: { method?: string };
}
export interface RootPath { root?: Root; objects?: (ObjectRef & { edge?: Edge })[] }
export interface Amount { objects?: number; size?: number }
export interface Suspect {
  kind: string; verdict?: string; point?: ObjectRef; owner?: ObjectRef; elements?: number; atLeast?: boolean; retained?: number; share?: number;
  members?: TypeCount; path?: RootPath; types?: TypeCount[]; targets?: TypeCount[]; name?: string; strength?: string;
  holders?: { object?: ObjectRef; root?: string; share?: number; path?: RootPath }[];
}
export interface Leaks {
  live?: Amount; garbage?: Amount; frozen?: Amount; small?: boolean; incomplete?: boolean; suspects?: Suspect[]; more?: number;
  finalizers?: { ready?: number; readyTypes?: TypeCount[]; dead?: number; running?: string[] };
}
export interface TreeRow { depth: number; object?: ObjectRef; root?: Name; folded?: Name; count?: number; types?: number; retained: number; share?: number; deeper?: number }
export interface Dominators { live?: Amount; tree?: TreeRow[]; incomplete?: boolean; least?: number }
export interface Retained {
  live?: Amount; by?: string; more?: number; incomplete?: boolean;
  rows?: { name: Name; methodTable?: Address; count: number; size: number; retained: number; share?: number; garbage?: Amount }[];
  objects?: { object?: ObjectRef; live?: boolean; count?: number; retained?: number; share?: number; types?: TypeCount[] }[];
}
export interface GCRoot { object?: ObjectRef; verdict?: string; paths?: RootPath[]; retained?: number; evidence?: { unread?: number; referrers?: number } }
export interface Neighbour { object?: ObjectRef; root?: Root; edge?: Edge; count?: number; strength?: string; live?: boolean; retained?: number }
export interface Neighbours { object?: ObjectRef; list?: Neighbour[]; more?: number; types?: { type: Name; count: number; references?: number; size?: number }[] }

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export interface Field {
  name: string; declaringType?: string; type?: Name; offset?: number; kind?: string; address?: Address; value?: Json; text?: string; struct?: Json; missing?: string;
}
export interface Item { index?: number; key?: { value?: Json; text?: string; missing?: string }; value?: { value?: Json; text?: string; missing?: string } }
export interface Obj {
  address?: Address; type?: Name; methodTable?: Address; size?: number; free?: boolean; file?: string; string?: string; length?: number; boxed?: string;
  fields?: Field[]; collection?: { count?: number; text?: string; first?: Item[] };
}

export interface Waste {
  objects?: number; size?: number; wasted?: number; share?: number;
  kinds?: { kind: string; objects?: number; wasted?: number; share?: number; all?: number; allSize?: number;
    types?: { type: Name; objects?: number; wasted?: number; all?: number; elements?: number; capacity?: number; example?: Address }[];
    strings?: { text: string; count?: number; wasted?: number; address?: Address; holders?: Holder[] }[]; holders?: Holder[] }[];
  free?: { generation: string; objects?: number; free?: number; blocks?: number; largest?: number }[];
}
export interface Holder { holder: string; references?: number; wasted?: number }

export interface AsyncCall {
  depth: number; count: number; kind?: string; name?: Name; object?: Address; method?: Name; await?: Name; file?: string; line?: number; blocked?: number;
  ends?: { count: number; reason: string }[];
}
export interface AsyncStacks { stacks?: number; calls?: AsyncCall[]; more?: boolean }
export interface Tasks {
  count?: number; counts?: { status: string; count: number; name?: Name; first?: Address }[];
  faults?: { task?: Address; name?: Name; exceptions?: Exception[] }[]; seen?: number; more?: number;
}
export interface Lock {
  address?: Address; kind?: string; type?: Name; held?: boolean; owner?: ThreadRef; ownerId?: number; readers?: ThreadRef[]; state?: string; waiters?: number;
  waiting?: { thread?: ThreadRef; how?: string; timeoutMs?: number; pulse?: boolean }[]; asyncWaiters?: { task?: Address; stack?: string[]; blocked?: boolean }[];
}
export interface Locks { locks?: Lock[]; free?: number }
export interface Wait {
  thread?: ThreadRef; text?: string; kind?: string; object?: Address; type?: Name; owner?: ThreadRef; how?: string; method?: string; file?: string; line?: number;
  chain?: string[]; until?: string;
}
export interface Waits { verdicts?: Verdict[]; threads?: Wait[] }
export interface Pool {
  kind?: string; cpu?: number; workers?: number; running?: number; goal?: number; min?: number; max?: number; blocked?: number; queued?: number; verdicts?: Verdict[];
  workerThreads?: { thread?: ThreadRef; activity?: Activity; waits?: boolean; idle?: boolean }[];
}
export interface AsyncWork { reason?: string; frames?: { method?: string; name?: string; await?: string; file?: string; line?: number; object?: Address }[] }
export interface Worker extends ThreadRef { does?: string; method?: string }
export interface Request {
  context?: Address; object?: Address; server?: string; protocol?: string; method?: string; path?: string; query?: string; state?: string; status?: number;
  started?: string; age?: string; endpoint?: string; route?: string; user?: string; threads?: Worker[]; stack?: AsyncWork; exception?: Address; remote?: string;
}
export interface Requests { requests?: Request[] }
export interface HttpPools {
  clients?: number; handlers?: number;
  pools?: { address?: Address; kind?: string; host?: string; port?: number; max?: number; connections?: number; idle?: number; waiting?: { request?: Address; method?: string; uri?: string }[];
    running?: { request?: Address; method?: string; uri?: string }[]; http2?: number }[];
}
export interface Databases {
  pools?: { address?: Address; type?: string; connectionString?: string; state?: string; blocked?: boolean; min?: number; max?: number; open?: number; idle?: number; busy?: number; waiting?: number;
    connections?: { address?: Address; owner?: Address; state?: string; opened?: string; database?: string; transaction?: boolean;
      command?: { address?: Address; running?: boolean; text?: string; since?: string; timeout?: number }; threads?: Worker[]; stack?: AsyncWork }[] }[];
}
export interface Modules {
  modules?: { index: number; address?: Address; size?: number; path?: string; managed?: boolean; pe?: boolean; version?: string; versionText?: string; buildId?: string;
    pdb?: { guid?: string; path?: string } }[];
  totalImageSize?: number;
}
export interface Doctor {
  file?: string; format?: string; size?: number; os?: string; osVersion?: string; distribution?: string; arch?: string; processors?: number; processor?: string; pid?: number; command?: string;
  taken?: string; started?: string; userTime?: number; kernelTime?: number; threads?: number; modules?: number; stored?: number; comment?: string;
  memory?: { name: string; bytes: number }[];
  runtimes?: { index: number; chosen?: boolean; kind?: string; version?: string; path?: string; error?: string;
    probes?: { name: string; result: string; detail?: string }[]; layout?: { source: string; members?: number }[] }[];
  parts?: { name: string; state: string; detail?: string; costs?: string[] }[];
  files?: { path: string; identity?: string; key?: string; why?: string }[]; dumpWarnings?: string[];
}
export interface Growth { name: Name; assembly?: string; counts?: number[]; sizes?: number[]; countChange: number; sizeChange: number; growing?: boolean; depth?: number }
export interface Diff {
  dumps?: { file: string; objects?: number; size?: number; free?: number; committed?: number; unread?: number }[];
  objects?: Growth; generations?: Growth[]; types?: Growth[]; moreTypes?: number; paths?: Growth[]; suspects?: (Growth & { path?: string[]; share?: number })[];
}
export interface Rows { columns?: { name: string }[]; rows?: { [column: string]: Json }[]; count?: number; more?: boolean }
export interface Subject { file: string; others?: string[] }
