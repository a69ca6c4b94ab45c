// The extension starts sosgo dap for the editor, or connects to one that listens, and shows the page of sosgo web in a tab.
// All that is shown comes from the program.
"use strict";
const childProcess = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const http = require("http");
const path = require("path");
const vscode = require("vscode");
const { isDump, mayBeDump } = require("./dumps");

const settings = () => vscode.workspace.getConfiguration("sosgo");

// program returns the path of sosgo, or throws an error that says how to set it.
function program() {
  const name = settings().get("path") || "sosgo";
  if (!isThere(name)) {
    throw new Error(`The program ${name} was not found on the machine where the editor's extensions run. Put it in PATH, or set sosgo.path.`);
  }
  return name;
}

// descriptor says how to reach the debug adapter of a session.
function descriptor(session) {
  const c = session.configuration;
  if (c.request === "attach") {
    return new vscode.DebugAdapterServer(c.port, c.host || "127.0.0.1");
  }
  return new vscode.DebugAdapterExecutable(program(), [...(settings().get("arguments") || []), "dap"]);
}

// isThere reports whether a program can be started: a path, or a name that PATH has. An editor that serves a browser starts nothing, and says
// nothing, where it is missing.
function isThere(name) {
  const folders = /[\\/]/.test(name) ? [""] : (process.env.PATH || "").split(path.delimiter);
  const endings = process.platform === "win32" ? ["", ".exe"] : [""];
  return folders.some((folder) => endings.some((ending) => fs.existsSync(path.join(folder, name + ending))));
}

// complete fills in a configuration: F5 without launch.json asks for a dump, and what it leaves out has the values of the settings.
async function complete(folder, c) {
  if (!c.type && !c.request) {
    const dump = await choose();
    if (!dump) {
      return undefined;
    }
    c = { type: "sosgo", request: "launch", name: path.basename(dump), dump };
  }
  for (const name of ["modules", "symbolServer", "sourceMap", "names"]) {
    const value = settings().get(name);
    if (c[name] === undefined && value && (typeof value === "string" || Object.keys(value).length)) {
      c[name] = value;
    }
  }
  if (c.cwd === undefined && folder) {
    c.cwd = folder.uri.fsPath; // sources at the paths of PDBs are read in this folder alone
  }
  return c;
}

async function choose() {
  const files = await vscode.window.showOpenDialog({ title: "Open a dump of a .NET process", openLabel: "Open dump", canSelectMany: false });
  return files && files[0].fsPath;
}

async function openDump(uri) {
  const dump = uri ? uri.fsPath : await choose();
  if (!dump) {
    return;
  }
  const folder = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders[0];
  await vscode.debug.startDebugging(folder, { type: "sosgo", request: "launch", name: path.basename(dump), dump });
}

// showPage starts sosgo web for a dump, and shows its page in a tab. The tab asks nobody: it hands its requests to the extension, which has the
// token of the server. So the server goes on refusing the requests of other pages.
async function showPage(uri) {
  const dump = uri ? uri.fsPath : await choose();
  if (!dump) {
    return;
  }
  let server;
  try {
    const words = [...(settings().get("arguments") || []), ...[settings().get("modules") || []].flat().flatMap((m) => ["--modules", m]), "web", dump];
    server = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `sosgo: ${path.basename(dump)}`, cancellable: true },
      (_, cancelled) => serve(program(), words, cancelled));
    const [script, style] = await Promise.all(["app.js", "app.css"].map(async (name) => (await get(server, name)).text));
    const panel = vscode.window.createWebviewPanel("sosgo", path.basename(dump), vscode.ViewColumn.Active,
      { enableScripts: true, enableFindWidget: true, retainContextWhenHidden: true, localResourceRoots: [] });
    const asked = new Map();
    panel.webview.onDidReceiveMessage(async (m) => {
      if (m.stop !== undefined) {
        asked.get(m.stop)?.abort();
        return;
      }
      const stop = new AbortController();
      asked.set(m.id, stop);
      const reply = await get(server, String(m.get), stop.signal).catch((e) => ({ status: 0, text: String(e.message || e) }));
      asked.delete(m.id);
      panel.webview.postMessage({ id: m.id, ...reply });
    });
    panel.onDidDispose(() => server.process.kill());
    panel.webview.html = page(script, style);
  } catch (e) {
    server?.process.kill();
    vscode.window.showErrorMessage(String(e.message || e));
  }
}

// serve starts sosgo web and returns its process, its address and its token.
function serve(name, words, cancelled) {
  return new Promise((done, fail) => {
    const p = childProcess.spawn(name, words, { stdio: ["ignore", "ignore", "pipe"] });
    let notes = "";
    p.stderr.on("data", (text) => {
      notes = (notes + text).slice(-2000);
      const at = /(http:\/\/\S+)\?token=(\S+)/.exec(notes);
      if (at) {
        done({ process: p, address: at[1], token: at[2] });
      }
    });
    p.on("error", fail);
    p.on("close", (code, signal) => fail(new Error(signal ? "cancelled" : notes.trim() || `sosgo ended with ${code}`)));
    cancelled.onCancellationRequested(() => p.kill());
  });
}

// get asks the server for an address below its page. The page's requests reach nothing else.
function get(server, below, signal) {
  const at = new URL(below, server.address);
  if (!at.href.startsWith(server.address)) {
    return Promise.reject(new Error(`${below} is not of the page`));
  }
  return new Promise((done, fail) => {
    const r = http.get(at, { headers: { Authorization: `Bearer ${server.token}` }, signal }, (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part));
      reply.on("error", fail);
      reply.on("end", () => done({ status: reply.statusCode, text: Buffer.concat(parts).toString("utf8") }));
    });
    r.on("error", fail);
  });
}

// links has the editor leave the page's own links alone: it would look for an element of that name, and not change the address.
const links = `addEventListener("click",e=>{const a=e.target.closest&&e.target.closest('a[href^="#"]');` +
  `if(a&&!e.ctrlKey&&!e.metaKey){e.preventDefault();e.stopImmediatePropagation();location.hash=a.getAttribute("href")}},true);`;

// page returns the page for a tab. Its policy allows its own script and style, and no request.
function page(script, style) {
  const hash = (text) => `'sha256-${crypto.createHash("sha256").update(text).digest("base64")}'`;
  const all = links + script;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hash(all)}; style-src ${hash(style)}; img-src data:">` +
    `<meta name="color-scheme" content="light dark"><title>sosgo</title><style>${style}</style></head><body><div id="app"></div><script>${all}</script></body></html>`;
}

// most is how many files the menu looks at, in each folder of the workspace.
const most = 2000;

// findDumps looks for dumps in the workspace, for the menu.
async function findDumps() {
  const files = await vscode.workspace.findFiles("**/{*.dmp,*.mdmp,*.core,core,core.*,*.zst,*.gz}", "**/{node_modules,.git}/**", most);
  const dumps = {};
  for (const f of files) {
    if (f.scheme === "file" && mayBeDump(f.fsPath) && await isDump(f.fsPath)) {
      dumps[f.fsPath] = true;
    }
  }
  await vscode.commands.executeCommand("setContext", "sosgo.dumps", dumps);
  return dumps;
}

exports.activate = (context) => {
  let timer;
  const soon = () => { clearTimeout(timer); timer = setTimeout(() => findDumps().catch(() => {}), 500); };
  const watcher = vscode.workspace.createFileSystemWatcher("**/{*.dmp,*.mdmp,*.core,core,core.*,*.zst,*.gz}", false, true, false);
  watcher.onDidCreate(soon);
  watcher.onDidDelete(soon);
  context.subscriptions.push(
    watcher, { dispose: () => clearTimeout(timer) },
    vscode.commands.registerCommand("sosgo.openDump", openDump),
    vscode.commands.registerCommand("sosgo.showPage", showPage),
    vscode.debug.registerDebugAdapterDescriptorFactory("sosgo", { createDebugAdapterDescriptor: descriptor }),
    vscode.debug.registerDebugConfigurationProvider("sosgo", { resolveDebugConfiguration: complete }),
  );
  soon();
};
exports.findDumps = findDumps; // for the test
exports.page = page;
exports.get = get;
