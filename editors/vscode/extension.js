// The extension starts sosgo dap for the editor, or connects to one that listens. All that is shown comes from there.
"use strict";
const fs = require("fs");
const path = require("path");
const vscode = require("vscode");

// descriptor says how to reach the debug adapter of a session.
function descriptor(session) {
  const c = session.configuration;
  if (c.request === "attach") {
    return new vscode.DebugAdapterServer(c.port, c.host || "127.0.0.1");
  }
  const settings = vscode.workspace.getConfiguration("sosgo");
  const program = settings.get("path") || "sosgo";
  if (!isThere(program)) {
    throw new Error(`The program ${program} was not found on the machine where the editor's extensions run. Put it in PATH, or set sosgo.path.`);
  }
  return new vscode.DebugAdapterExecutable(program, [...(settings.get("arguments") || []), "dap"]);
}

// isThere reports whether a program can be started: a path, or a name that PATH has. An editor that serves a browser starts nothing, and says
// nothing, where it is missing.
function isThere(program) {
  const folders = /[\\/]/.test(program) ? [""] : (process.env.PATH || "").split(path.delimiter);
  const endings = process.platform === "win32" ? ["", ".exe"] : [""];
  return folders.some((folder) => endings.some((ending) => fs.existsSync(path.join(folder, program + ending))));
}

// complete fills in a configuration: F5 without launch.json asks for a dump.
async function complete(_folder, c) {
  if (c.type || c.request) {
    return c;
  }
  const dump = await choose();
  return dump && { type: "sosgo", request: "launch", name: "Dump", dump };
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
  await vscode.debug.startDebugging(folder, { type: "sosgo", request: "launch", name: dump.replace(/^.*[\\/]/, ""), dump });
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("sosgo.openDump", openDump),
    vscode.debug.registerDebugAdapterDescriptorFactory("sosgo", { createDebugAdapterDescriptor: descriptor }),
    vscode.debug.registerDebugConfigurationProvider("sosgo", { resolveDebugConfiguration: complete }),
  );
};
