// The extension with an editor that only records: node test.js [SOSGO DUMP]. With a program and a dump it shows the page, too.
"use strict";
const assert = require("assert");
const fs = require("fs");
const http = require("http");
const Module = require("module");
const os = require("os");
const path = require("path");
const zlib = require("zlib");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sosgo-test-"));
const values = { path: process.argv[2] || process.execPath, modules: ["/srv/app"], names: "runtime", arguments: ["--offline"] };
const commands = {}, context = {}, panels = [], replies = [], errors = [], started = [];
let factory, provider, files = [];
const vscode = {
  ProgressLocation: { Notification: 15 }, ViewColumn: { Active: -1 },
  DebugAdapterServer: class { constructor(port, host) { Object.assign(this, { port, host }); } },
  DebugAdapterExecutable: class { constructor(command, args) { Object.assign(this, { command, args }); } },
  commands: {
    registerCommand: (name, f) => { commands[name] = f; return { dispose() {} }; },
    executeCommand: async (name, key, value) => { assert.strictEqual(name, "setContext"); context[key] = value; },
  },
  debug: {
    registerDebugAdapterDescriptorFactory: (_, f) => { factory = f; return { dispose() {} }; },
    registerDebugConfigurationProvider: (_, p) => { provider = p; return { dispose() {} }; },
    startDebugging: async (_, c) => { started.push(c); },
  },
  window: {
    showOpenDialog: async () => undefined,
    showErrorMessage: (text) => { errors.push(text); },
    withProgress: (_, f) => f({}, { onCancellationRequested() {} }),
    createWebviewPanel: (type, title, column, options) => {
      const p = { title, options, onDidDispose: (f) => { p.dispose = f; }, webview: { onDidReceiveMessage: (f) => { p.send = f; }, postMessage: (m) => { replies.push(m); } } };
      panels.push(p);
      return p;
    },
  },
  workspace: {
    getConfiguration: () => ({ get: (name) => values[name] }),
    findFiles: async () => files.map((f) => ({ scheme: "file", fsPath: f })),
    createFileSystemWatcher: () => ({ onDidCreate() {}, onDidDelete() {}, dispose() {} }),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

async function main() {
  const contributed = require("./package.json").contributes;
  const extension = require("./extension.js");
  const subscriptions = [];
  extension.activate({ subscriptions });
  assert.deepStrictEqual(Object.keys(commands).sort(), contributed.commands.map((c) => c.command).sort(), "each command is there");

  // Only dumps are offered.
  const elf = Buffer.alloc(64), library = Buffer.alloc(64), minidump = Buffer.alloc(64);
  elf.write("\x7fELF", "latin1"); elf[5] = 1; elf.writeUInt16LE(4, 16);
  library.write("\x7fELF", "latin1"); library[5] = 1; library.writeUInt16LE(3, 16);
  minidump.write("MDMP");
  const made = { "core.12": elf, "core.13": library, "a.dmp": minidump, "b.dmp": Buffer.from("nothing of the kind here"), "c.dmp.gz": zlib.gzipSync(elf),
    "d.dmp.gz": zlib.gzipSync(library), "logs.gz": zlib.gzipSync(elf), "core": Buffer.alloc(0), "e.tar.zst": Buffer.from("not compressed, in fact") };
  files = Object.keys(made).map((name) => path.join(folder, name));
  files.forEach((f) => fs.writeFileSync(f, made[path.basename(f)]));
  files.push(path.join(folder, "gone.dmp"));
  await extension.findDumps();
  assert.deepStrictEqual(Object.keys(context["sosgo.dumps"]).map((f) => path.basename(f)).sort(), ["a.dmp", "c.dmp.gz", "core.12"]);

  // Configurations have the settings' values, unless they have their own.
  const c = await provider.resolveDebugConfiguration(undefined, { type: "sosgo", request: "launch", dump: "x", names: "csharp" });
  assert.deepStrictEqual(c, { type: "sosgo", request: "launch", dump: "x", names: "csharp", modules: ["/srv/app"] });
  assert.strictEqual(await provider.resolveDebugConfiguration(undefined, {}), undefined, "no dump was chosen");
  assert.deepStrictEqual({ ...factory.createDebugAdapterDescriptor({ configuration: c }) }, { command: values.path, args: ["--offline", "dap"] });
  assert.deepStrictEqual({ ...factory.createDebugAdapterDescriptor({ configuration: { request: "attach", port: 4711 } }) }, { port: 4711, host: "127.0.0.1" });
  const there = values.path;
  values.path = "no-such-program";
  assert.throws(() => factory.createDebugAdapterDescriptor({ configuration: c }), /was not found/);
  values.path = there;
  await commands["sosgo.openDump"]({ fsPath: "/dumps/core.1" });
  assert.strictEqual(started[0].dump, "/dumps/core.1");

  // The page may run its own script, and ask nobody.
  const html = extension.page("run()", "a{}");
  assert.match(html, /content="default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; img-src data:">/);
  assert.match(html, /<style>a\{\}<\/style>.*<script>addEventListener.*;run\(\)<\/script>/);

  // What it asks for through the extension goes to the server's own folder, with the token.
  const heard = [];
  const server = http.createServer((q, r) => { heard.push([q.url, q.headers.authorization]); r.statusCode = q.url === "/a/none" ? 404 : 200; r.end("text of " + q.url); });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  const own = { address: `http://127.0.0.1:${server.address().port}/a/`, token: "secret" };
  assert.deepStrictEqual(await extension.get(own, "api/waits?count=1"), { status: 200, text: "text of /a/api/waits?count=1" });
  assert.strictEqual((await extension.get(own, "none")).status, 404);
  for (const other of ["http://example.org/", "//example.org/a/", "/b/", "../b/", "../ab/", "http://127.0.0.1:1/a/"]) {
    await assert.rejects(extension.get(own, other), /is not of the page/, other);
  }
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(extension.get(own, "x", stop.signal), { name: "AbortError" });
  assert.deepStrictEqual(heard, [["/a/api/waits?count=1", "Bearer secret"], ["/a/none", "Bearer secret"]]);
  server.close();

  if (process.argv[3]) {
    values.modules = [];
    await commands["sosgo.showPage"]({ fsPath: path.resolve(process.argv[3]) });
    assert.deepStrictEqual(errors, []);
    const [panel] = panels;
    assert.match(panel.webview.html, /<div id="app"><\/div>/);
    await panel.send({ get: "subject.json", id: 1 });
    await panel.send({ get: "api/doctor?count=1", id: 2 });
    await panel.send({ get: "http://example.org/", id: 3 });
    assert.deepStrictEqual(replies.map((r) => [r.id, r.status]), [[1, 200], [2, 200], [3, 0]]);
    assert.deepStrictEqual(JSON.parse(replies[0].text), { file: path.basename(process.argv[3]) });
    panel.dispose();
    for (let i = 4; i < 54 && (i === 4 || replies.at(-1).status); i++) {
      await new Promise((done) => { setTimeout(done, 100); });
      await panel.send({ get: "subject.json", id: i });
    }
    assert(replies.at(-1).id > 3);
    assert.strictEqual(replies.at(-1).status, 0, "the server ends with the tab");
  }
  await commands["sosgo.showPage"]({ fsPath: path.join(folder, "gone.dmp") });
  assert.strictEqual(panels.length, process.argv[3] ? 1 : 0);
  assert.strictEqual(errors.length, 1, "a failure is shown");
  subscriptions.forEach((s) => s.dispose());
  for (const w of contributed.walkthroughs) {
    w.steps.forEach((s) => assert(fs.existsSync(path.join(__dirname, s.media.markdown)), s.id));
  }
}

main().then(() => console.log("ok"), (e) => { console.error(e); process.exitCode = 1; }).finally(() => fs.rmSync(folder, { recursive: true, force: true }));
