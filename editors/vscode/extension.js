// The extension starts sosgo dap for the editor, or connects to one that listens. All that is shown comes from there.
"use strict";
const vscode = require("vscode");

// descriptor says how to reach the debug adapter of a session.
function descriptor(session) {
  const c = session.configuration;
  if (c.request === "attach") {
    return new vscode.DebugAdapterServer(c.port, c.host || "127.0.0.1");
  }
  const settings = vscode.workspace.getConfiguration("sosgo");
  return new vscode.DebugAdapterExecutable(settings.get("path") || "sosgo", [...(settings.get("arguments") || []), "dap"]);
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
