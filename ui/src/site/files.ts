// The files of the worker, as Go's syscall package for js wants them: the interface of Node's fs. The files that a person chose are read in
// parts and never as a whole; temporary files lie in the origin's private file system, or in memory where there is none.

declare class FileReaderSync { readAsArrayBuffer(b: Blob): ArrayBuffer }
interface Access { getSize(): number; read(to: Uint8Array, o: { at: number }): number; write(from: Uint8Array, o: { at: number }): number; truncate(size: number): void; close(): void }
interface Handle { createSyncAccessHandle(): Promise<Access> }
interface Folder { getFileHandle(name: string, o: { create: boolean }): Promise<Handle>; removeEntry(name: string): Promise<void>; keys(): AsyncIterable<string> }

/** The bytes of a file. */
interface Content { size(): number; read(to: Uint8Array, at: number): number; write(from: Uint8Array, at: number): number; close(): void }

/** How many bytes temporary files may take where they lie in memory. */
const mostInMemory = 1 << 30;
const chunk = 1 << 20;
const prefix = "sosgo-";

class Failure extends Error {
  constructor(readonly code: string) { super(code); }
}

class Chosen implements Content {
  private readonly reader = new FileReaderSync();
  constructor(private readonly file: Blob) {}
  size(): number { return this.file.size; }
  read(to: Uint8Array, at: number): number {
    const part = this.file.slice(at, at + to.length);
    try {
      to.set(new Uint8Array(this.reader.readAsArrayBuffer(part)));
    } catch {
      throw new Failure("EIO"); // the file was changed or removed while it was open
    }
    return part.size;
  }
  write(): number { throw new Failure("EROFS"); }
  close(): void { /* it stays the page's */ }
}

class InMemory implements Content {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;
  size(): number { return this.length; }
  read(to: Uint8Array, at: number): number {
    const n = Math.max(0, Math.min(to.length, this.length - at));
    this.each(at, n, (c, from, done, part) => to.set(c.subarray(from, from + part), done));
    return n;
  }
  write(from: Uint8Array, at: number): number {
    const end = at + from.length;
    if (end > mostInMemory) throw new Failure("ENOSPC");
    while (this.chunks.length * chunk < end) this.chunks.push(new Uint8Array(chunk));
    this.each(at, from.length, (c, to, done, part) => c.set(from.subarray(done, done + part), to));
    this.length = Math.max(this.length, end);
    return from.length;
  }
  close(): void { this.chunks.length = 0; }
  private each(at: number, n: number, use: (c: Uint8Array, from: number, done: number, part: number) => void): void {
    for (let done = 0; done < n;) {
      const from = (at + done) % chunk;
      const part = Math.min(chunk - from, n - done);
      use(this.chunks[Math.floor((at + done) / chunk)]!, from, done, part);
      done += part;
    }
  }
}

const privateFolder = (): Promise<Folder> => (navigator.storage as unknown as { getDirectory(): Promise<Folder> }).getDirectory();

async function temporary(): Promise<Content> {
  try {
    const folder = await privateFolder();
    const name = prefix + crypto.randomUUID();
    const access = await (await folder.getFileHandle(name, { create: true })).createSyncAccessHandle();
    return { size: () => access.getSize(), read: (to, at) => access.read(to, { at }),
      write: (from, at) => {
        try { return access.write(from, { at }); } catch { throw new Failure("ENOSPC"); }
      },
      close: () => { access.close(); folder.removeEntry(name).catch(() => undefined); } };
  } catch {
    return new InMemory();
  }
}

/** Removes the temporary files of workers that have ended. Those in use are locked. */
export async function sweep(): Promise<void> {
  try {
    const folder = await privateFolder();
    for await (const name of folder.keys()) if (name.startsWith(prefix)) await folder.removeEntry(name).catch(() => undefined);
  } catch { /* there is none */ }
}

interface Open { content?: Content; path: string; at: number }
type Callback = (error: Error | null, value?: unknown) => void;

const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000, O_DIRECTORY: 0o200000 };

/** A file system of chosen files, in folders, and of temporary files. */
export class Files {
  readonly constants = constants;
  private readonly chosen = new Map<string, Blob>();
  private readonly made = new Map<string, Content>();
  private readonly open_ = new Map<number, Open>();
  private last = 2;
  /** The memory of the program. */
  memory: WebAssembly.Memory | undefined;

  add(path: string, file: Blob): void { this.chosen.set(path, file); }

  open(path: string, flags: number, _mode: number, done: Callback): void {
    void this.opened(path, flags).then((o) => {
      this.open_.set(++this.last, o);
      done(null, this.last);
    }, done);
  }
  private async opened(path: string, flags: number): Promise<Open> {
    const file = this.chosen.get(path);
    if (file && !(flags & (constants.O_WRONLY | constants.O_RDWR))) return { content: new Chosen(file), path, at: 0 };
    if (this.isFolder(path)) return { path, at: 0 };
    if (file || !(flags & constants.O_CREAT)) throw new Failure(file ? "EROFS" : "ENOENT");
    if (this.made.has(path)) throw new Failure("EEXIST");
    const content = await temporary();
    this.made.set(path, content);
    return { content, path, at: 0 };
  }
  close(fd: number, done: Callback): void {
    this.answer(done, () => {
      const o = this.of(fd);
      this.open_.delete(fd);
      o.content?.close();
    });
  }
  read(fd: number, to: Uint8Array, from: number, length: number, position: number | null, done: Callback): void {
    this.answer(done, () => {
      const o = this.of(fd);
      if (!o.content) throw new Failure("EISDIR");
      const n = o.content.read(to.subarray(from, from + length), position ?? o.at);
      if (position === null) o.at += n;
      return n;
    });
  }
  /** Reads a part of a file to an address of the program's memory, and returns how many bytes it has; -1 if it fails. */
  readInto(fd: number, to: number, length: number, position: number): number {
    const content = this.open_.get(fd)?.content;
    if (!content || !this.memory) return -1;
    try { return content.read(new Uint8Array(this.memory.buffer, to, length), position); } catch { return -1; }
  }
  write(fd: number, data: Uint8Array, from: number, length: number, position: number | null, done: Callback): void {
    this.answer(done, () => {
      const part = data.subarray(from, from + length);
      if (fd <= 2) return this.writeSync(fd, part);
      const o = this.of(fd);
      if (!o.content) throw new Failure("EISDIR");
      const n = o.content.write(part, position ?? o.at);
      if (position === null) o.at += n;
      return n;
    });
  }
  /** What the program itself prints: only a crash of Go's runtime does. */
  writeSync(_fd: number, data: Uint8Array): number {
    console.error(new TextDecoder().decode(data));
    return data.length;
  }
  fstat(fd: number, done: Callback): void {
    this.answer(done, () => {
      const o = this.of(fd);
      return status(o.content ? o.content.size() : undefined);
    });
  }
  stat(path: string, done: Callback): void {
    this.answer(done, () => {
      const file = this.chosen.get(path);
      if (!file && !this.isFolder(path)) throw new Failure("ENOENT");
      return status(file?.size);
    });
  }
  lstat(path: string, done: Callback): void { this.stat(path, done); }
  readdir(path: string, done: Callback): void {
    const below = path.replace(/\/*$/, "/");
    const names = new Set<string>();
    for (const p of this.chosen.keys()) if (p.startsWith(below)) names.add(p.slice(below.length).split("/")[0]!);
    done(null, [...names]);
  }
  /** A temporary file loses its name; its content goes with its last descriptor. */
  unlink(path: string, done: Callback): void {
    this.answer(done, () => { if (!this.made.delete(path)) throw new Failure("ENOENT"); });
  }
  fsync(_fd: number, done: Callback): void { done(null); }

  private of(fd: number): Open {
    const o = this.open_.get(fd);
    if (!o) throw new Failure("EBADF");
    return o;
  }
  private isFolder(path: string): boolean {
    const below = path.replace(/\/*$/, "/");
    return below === "/" || below === "/tmp/" || [...this.chosen.keys()].some((p) => p.startsWith(below));
  }
  private answer(done: Callback, run: () => unknown): void {
    let value: unknown;
    try { value = run(); } catch (e) { done(e as Error); return; }
    done(null, value);
  }
}

/** The operations that sosgo does not need. */
for (const name of ["chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "readlink", "rename", "rmdir", "symlink", "truncate", "utimes"])
  (Files.prototype as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => (args[args.length - 1] as Callback)(new Failure("ENOSYS"));

function status(size: number | undefined): object {
  const folder = size === undefined;
  return { dev: 0, ino: 0, mode: folder ? 0o40500 : 0o100400, nlink: 1, uid: 0, gid: 0, rdev: 0, size: size ?? 0, blksize: 4096, blocks: 0,
    atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => folder };
}
