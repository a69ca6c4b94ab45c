import type { JSX } from "preact";
import { question } from "../api";
import type { DoctorResult as Doctor, ModulesResult as Modules } from "../docs";
import { Addr, Facts, Said, Section, Show, Table, Text } from "../parts";
import { printing, useDoc } from "../state";
import { bytes, count, plural, runtimeVersion, time } from "../text";

export function ModulesPage(): JSX.Element {
  const doc = useDoc<Modules>(question("modules"));
  return (
    <Section title="Images in memory">
      <Show doc={doc} q={question("modules")} what="listing modules">{(m) => <>
        <p class="lead"><b data-fact="modules">{count(doc?.lists?.["modules"]?.of ?? (m.modules ?? []).length)}</b> images, {bytes(m.totalImageSize)}</p>
        <Table rows={m.modules ?? []} caption="modules" text={(r) => `${r.path} ${r.version} ${r.buildId}`} columns={[
          { head: "Module", cell: (r) => <><b><Text s={(r.path ?? "").replace(/^.*[\\/]/, "")} /></b> <span class="dim text">{r.path}</span></>, by: (r) => (r.path ?? "").replace(/^.*[\\/]/, "").toLowerCase() },
          { head: "Kind", cell: (r) => (r.managed ? "managed" : r.managed === false ? "native" : ""), by: (r) => String(r.managed) }, { head: "Version", cell: (r) => (r.version ?? r.versionText ? <span class="version">{r.version ?? r.versionText}</span> : null), by: (r) => r.version },
          { head: "Address", cell: (r) => <Addr a={r.address} /> }, { head: "Bytes", cell: (r) => bytes(r.size), by: (r) => r.size, num: true }, { head: "Identity", cell: (r) => (r.buildId ?? r.pdb?.guid) && <code class="identity">{r.buildId ?? r.pdb?.guid}</code> }]} />
      </>}</Show>
    </Section>
  );
}

/** A text with its bytes in units. */
const measured = (s: string): string => s.replace(/(\d+) of (\d+) bytes/g, (_, a: string, b: string) => `${bytes(Number(a))} of ${bytes(Number(b))}`);

export function DoctorPage(): JSX.Element {
  const doc = useDoc<Doctor>(question("doctor"));
  return (
    <Section title="The dump and how it is read">
      <Show doc={doc} q={question("doctor")} what="reading the dump">{(d) => <>
        <Facts list={[["file", d.file], ["format", d.format], ["size", bytes(d.size)], ["memory in it", bytes(d.stored)], ["left out", d.leftOut ? bytes(d.leftOut) : undefined], ["system", [d.distribution ?? d.os, d.osVersion].filter(Boolean).join(" ")], ["processor", [d.processor, d.arch].filter(Boolean).join(", ")], ["processors", count(d.processors)],
          ["command", d.command], ["process", d.pid], ["started", time(d.started)], ["taken", time(d.taken)], ["threads", count(d.threads)], ["modules", count(d.modules)], ["comment", d.comment]]} />
        <h3>Parts of the process</h3>
        <Table rows={d.parts ?? []} caption="parts" columns={[{ head: "Part", cell: (p) => p.name }, { head: "State", cell: (p) => <span class="tag">{p.state}</span> },
          { head: "How much", cell: (p) => p.facts ? p.facts.map((f, i) => <>{i > 0 && "; "}<Said s={{ text: measured(f.text) }} /></>) : measured(p.detail ?? "") }, { head: "Commands that need it", cell: (p) => (p.costs ?? []).join(", ") }]} />
        {(d.runtimes ?? []).map((r) => <article class="card"><h3 title={r.version}>{runtimeVersion(r.kind, r.version ?? "")}{r.chosen ? " (shown here)" : ""}</h3><p class="wrap">{r.path}</p>{r.error && <p class="problem"><Text s={r.error} /></p>}
          <p>{plural((r.probes ?? []).filter((p) => p.result === "passed").length, "probe")} passed{(r.probes ?? []).some((p) => p.result === "failed") ? "; some failed" : ""}.</p>
          {(r.layout ?? []).length > 0 && <details><summary>How its structures are known</summary><ul>{(r.layout ?? []).map((l) => <li><Text s={l.source} />: {plural(l.members ?? 0, "member")}</li>)}</ul></details>}</article>)}
        {(d.files ?? []).length > 0 && !printing.value && <><h3>Files that would help</h3><Table rows={d.files ?? []} caption="files" columns={[{ head: "File", cell: (f) => <span class="wrap">{f.path}</span> }, { head: "It must be", cell: (f) => <code class="wrap">{f.identity}</code> }, { head: "It would supply", cell: (f) => f.why }]} /></>}
        {(d.dumpWarnings ?? []).length > 0 && <><h3>Warnings of the file</h3><ul>{(d.dumpWarnings ?? []).map((w) => <li><Text s={w} /></li>)}</ul></>}
      </>}</Show>
    </Section>
  );
}
