package exportcmd

import (
	"cmp"
	"io"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
	"github.com/sosgo/sosgo/process"
)

// A form is an output form of export.
type form struct {
	name string
	ask  func(c *cli.Context, o *exportOptions) (*answer.Exported, error)
}

// forms returns all forms of export.
func forms() []form {
	return []form{
		{"gcdump", askGCDump},
		{"heapsnapshot", askHeapSnapshot},
		{"pprof", askProfile(export.Pprof)},
		{"speedscope", askProfile(export.Speedscope)},
		{"folded", askProfile(export.Folded)},
		{"parquet", askTables(export.Parquet)},
		{"csv", askTables(export.CSV)},
		{"ndjson", askTables(export.NDJSON)},
	}
}

// A formName names one of the forms.
type formName string

// Choices lists the names.
func (formName) Choices() (names []string) {
	for _, f := range forms() {
		names = append(names, f.name)
	}
	return names
}

type exportOptions struct {
	Out       string        `opt:"o,out" kind:"file" value:"FILE" excludes:"path" help:"the file, in another way"`
	Heap      bool          `opt:"heap" help:"pprof, speedscope, folded: the heap, and not the stacks"`
	Garbage   bool          `opt:"garbage" help:"gcdump, and with -heap: also what nothing keeps alive"`
	Min       uint64        `opt:"min" kind:"size" help:"with -heap: objects that retain less stand together by type (a millionth of the heap)"`
	Summary   bool          `opt:"summary" help:"tables: to a fleet in PATH, without objects and strings; a dump that is there is skipped"`
	Label     []string      `opt:"label" value:"NAME=VALUE" help:"tables: a label of the dump, such as service=shop; may be repeated"`
	Time      string        `opt:"time" value:"TIME" help:"tables: when the dump was written, such as 2026-11-26T09:00:00Z (as recorded, or else the file's time)"`
	Modified  string        `opt:"modified" value:"TIME" help:"tables: the file's time, for a dump that records none and is no file of this machine"`
	Rules     ask.RulesFile `opt:"rules" kind:"file" value:"FILE" help:"tables: sign the crash by these rules; \"signature rules\" prints the default"`
	RawCSV    bool          `opt:"raw-csv" help:"csv: texts as they are; else one that spreadsheets would run begins with an apostrophe"`
	Native    bool          `opt:"native" help:"stacks: native frames too"`
	PerThread bool          `opt:"perthread" help:"folded stacks: begin each with its thread"`
	cli.Sent
	Form formName `arg:"form" help:"what to write"`
	Path string   `arg:"path,optional" kind:"file" help:"the file or folder, which must not exist"`
}

func exportCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "export",
		Sends:   true,
		Summary: "write the heap, or the stacks, for other tools",
		Help: "gcdump is the graph of the live objects, with -garbage of all objects, for PerfView, Visual Studio and \"dotnet-gcdump report\"; " +
			"heapsnapshot is for Chrome DevTools, Visual Studio Code and memlab, which find ten million objects slow; an id that they show, such as " +
			"@4711, stands for its object in commands about the same dump, as in \"dumpobj @4711\". pprof is for \"go tool pprof\", speedscope for " +
			"https://www.speedscope.app and folded for flame graphs: of the stacks, as the command stacks writes them, or with -heap of the heap. A " +
			"stack of the heap is the path of those who own an object, by types, so that flat is the size of objects and cum what they retain. parquet, " +
			"csv and ndjson are a folder of tables for databases: dump, findings, types, objects, strings, threads, frames, roots, handles, statics, " +
			"tasks and requests; with -summary the small ones alone, in a folder of their own for each dump, PATH/date=DATE/part=ID (docs/fleet.md). " +
			"Files and folders are there when they are whole, or not at all.",
		Examples: []cli.Example{
			{Line: "export gcdump heap.gcdump", Text: "the graph of the heap for PerfView and Visual Studio"},
			{Line: "export heapsnapshot heap.heapsnapshot", Text: "for the memory page of Chrome DevTools; dumpobj takes the ids there, such as @4711"},
			{Line: "export pprof --heap heap.pb.gz", Text: "what retains the heap, for go tool pprof -http"},
			{Line: "export parquet facts", Text: "tables for DuckDB: select * from 'facts/types.parquet' order by retained desc"},
			{Line: "export parquet --summary fleet", Text: "a few megabytes, to compare with other dumps"},
		},
	}, askExport, exporttext.Export)
}

func askExport(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	if o.Path = cmp.Or(o.Path, o.Out); o.Path == "" {
		return nil, c.Usagef("-o FILE is missing")
	}
	all := forms()
	i := slices.IndexFunc(all, func(f form) bool { return f.name == string(o.Form) })
	out, err := all[i].ask(c, o)
	if err != nil {
		return nil, err
	}
	out.Form, out.Path = string(o.Form), cmp.Or(out.Path, o.Path)
	return out, nil
}

// heap writes the heap to a file.
func heap(c *cli.Context, o *exportOptions, write func(w io.Writer, p *process.Process) (*answer.Exported, error)) (out *answer.Exported, err error) {
	err = c.WriteFile(o.Path, cli.New, func(w io.Writer) (err error) {
		if _, err = ask.Holders(c); err == nil {
			out, err = write(w, ask.View(c))
		}
		return err
	})
	return out, err
}

func askGCDump(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	return heap(c, o, func(w io.Writer, p *process.Process) (*answer.Exported, error) {
		return export.GCDump(c.Context(), w, p, export.GCDumpOptions{Garbage: o.Garbage, Mask: c.Mask()})
	})
}

func askHeapSnapshot(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	return heap(c, o, func(w io.Writer, p *process.Process) (*answer.Exported, error) {
		return export.HeapSnapshot(c.Context(), w, p, export.HeapSnapshotOptions{Mask: c.Mask()})
	})
}
