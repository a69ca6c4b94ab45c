// The extension starts sosgo dap for the editor, or connects to one that listens, and shows sosgo's report in a tab.
// All that is shown comes from the program.
"use strict";
const childProcess = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const os = require("os");
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
async function complete(_folder, c) {
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

// showPage has sosgo write its report of a dump, and shows it. The report has all pages in one file, and asks no server.
async function showPage(uri) {
  const dump = uri ? uri.fsPath : await choose();
  if (!dump) {
    return;
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sosgo-"));
  const file = path.join(folder, "report.html");
  try {
    const words = [...(settings().get("arguments") || []), ...[settings().get("modules") || []].flat().flatMap((m) => ["--modules", m]), "report", "-o", file, dump];
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `sosgo: ${path.basename(dump)}`, cancellable: true },
      (_, cancelled) => run(program(), words, cancelled));
    const panel = vscode.window.createWebviewPanel("sosgo", path.basename(dump), vscode.ViewColumn.Active,
      { enableScripts: true, enableFindWidget: true, retainContextWhenHidden: true, localResourceRoots: [] });
    panel.webview.html = page(fs.readFileSync(file, "utf8"));
  } catch (e) {
    vscode.window.showErrorMessage(String(e.message || e));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

// run runs the program to its end. Findings are no failure of it (exit code 7).
function run(name, words, cancelled) {
  return new Promise((done, fail) => {
    const p = childProcess.spawn(name, words, { stdio: ["ignore", "ignore", "pipe"] });
    let notes = "";
    p.stderr.on("data", (text) => { notes = (notes + text).slice(-2000); });
    p.on("error", fail);
    p.on("close", (code, signal) => {
      if (code === 0 || code === 7) {
        done();
      } else {
        fail(new Error(signal ? "cancelled" : notes.trim() || `sosgo ended with ${code}`));
      }
    });
    cancelled.onCancellationRequested(() => p.kill());
  });
}

// links has the editor leave the report's own links alone: it would look for an element of that name, and not change the address.
const links = `addEventListener("click",e=>{const a=e.target.closest&&e.target.closest('a[href^="#"]');` +
  `if(a&&!e.ctrlKey&&!e.metaKey){e.preventDefault();e.stopImmediatePropagation();location.hash=a.getAttribute("href")}},true)`;

// page returns a report for a tab, with the script for its links, which the report's policy has to allow.
function page(html) {
  const hash = `'sha256-${crypto.createHash("sha256").update(links).digest("base64")}'`;
  return html.replace("script-src ", () => `script-src ${hash} `).replace("<title>", () => `<script>${links}</script><title>`);
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
