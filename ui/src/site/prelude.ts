// Runs in the worker before Go's wasm_exec.js, which takes the file system that it finds.
import { Files } from "./files";

const scope = globalThis as unknown as { fs: Files; process: object };
scope.fs = new Files();
scope.process = { pid: 1, ppid: 0, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [], umask: () => 0o77, cwd: () => "/", chdir: () => undefined };
