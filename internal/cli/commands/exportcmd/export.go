package exportcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/export/gcdump"
	"github.com/sosgo/sosgo/export/heapsnapshot"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/exporttext"
	"github.com/sosgo/sosgo/internal/report"
)

// A form is one that export writes.
type form struct {
	name string
	ask  func(c *cli.Context, path string) (*answer.Exported, error)
}

// forms are all that export writes.
var forms = []form{
	{"gcdump", askGCDump},
	{"heapsnapshot", askHeapSnapshot},
	{"pprof", askPprof},
	{"speedscope", askSpeedscope},
	{"folded", askFolded},
	{"parquet", askParquet},
	{"csv", askCSV},
	{"ndjson", askNDJSON},
}

func exportCommand() cli.Command {
	names := make([]string, len(forms))
	for i := range forms {
		names[i] = forms[i].name
	}
	return cli.Command{
		Name: "export", Group: cli.GroupExport, NeedsDump: true, Ask: askExport,
		Summary: "write the heap, or the stacks, for other tools",
		Help: "gcdump is the graph of the heap for PerfView, Visual Studio and \"dotnet-gcdump report\"; heapsnapshot for Chrome DevTools, Visual Studio Code and memlab, " +
			"which find ten million objects slow. pprof is for \"go tool pprof\", speedscope for https://www.speedscope.app and folded for flame graphs: of the stacks, as the command " +
			"stacks writes them, or with -heap of the heap. A stack of the heap is the path of those who own an object, by types, so that flat is the size of objects and cum " +
			"what they retain. parquet, csv and ndjson are a folder of tables for databases: dump, findings, types, objects, strings, threads, frames, roots, handles, statics, tasks and requests; " +
			"with -summary the small ones alone, in a folder of their own for each dump (docs/fleet.md). Files and folders are there when they are whole, or not at all.",
		Args: []cli.Arg{
			{Name: "form", Kind: cli.Str, Choices: names, Summary: "what to write"},
			{Name: "path", Kind: cli.File, Optional: true, Summary: "the file or folder, which must not exist"},
		},
		Options: []cli.Option{
			{Name: "o", Aliases: []string{"out"}, Kind: cli.File, Value: "FILE", Summary: "the file, in another way"},
			{Name: "heap", Summary: "pprof, speedscope, folded: the heap, and not the stacks"},
			{Name: "garbage", Summary: "with -heap: also what nothing keeps alive"},
			{Name: "min", Kind: cli.Size, Summary: "with -heap: objects that retain less stand together by type (a millionth of the heap)"},
			{Name: "summary", Summary: "tables: to PATH/dump_id=ID, without objects and strings; a dump that is there is skipped"},
			{Name: "native", Summary: "stacks: native frames too"},
			{Name: "perthread", Summary: "folded stacks: begin each with its thread"},
		},
		Examples: []cli.Example{
			{Line: "export gcdump heap.gcdump", Text: "the graph of the heap for PerfView and Visual Studio"},
			{Line: "export heapsnapshot heap.heapsnapshot", Text: "for the memory page of Chrome DevTools"},
			{Line: "export pprof --heap heap.pb.gz", Text: "what retains the heap, for go tool pprof -http"},
			{Line: "export parquet facts", Text: "tables for DuckDB: select * from 'facts/types.parquet' order by retained desc"},
			{Line: "export parquet --summary fleet", Text: "a few megabytes, to compare with other dumps"},
		},
		Result: report.Result[answer.Exported](),
	}
}

func askExport(c *cli.Context) (report.Answer, error) {
	path, given := c.Str("path")
	if o, other := c.Str("o"); other {
		if given {
			return report.Answer{}, c.Usagef("two places to write to: %s and %s", path, o)
		}
		path, given = o, true
	}
	if !given {
		return report.Answer{}, c.Usagef("-o FILE is missing")
	}
	name, _ := c.Str("form")
	for i := range forms {
		if forms[i].name == name {
			out, err := forms[i].ask(c, path)
			if err != nil {
				return report.Answer{}, err
			}
			if out.Form = name; out.Path == "" {
				out.Path = path
			}
			return report.Say(out, exporttext.Export), nil
		}
	}
	return report.Answer{}, c.Usagef("there is no form %q", name)
}

// heapOf returns the heap of the session's runtime. A heap without a readable object is an error: a
// file without objects would claim that there are none.
func heapOf(c *cli.Context) (*export.Heap, error) {
	holders, err := ask.Holders(c)
	if err != nil {
		return nil, err
	}
	if _, err := holders.Incomplete(&answer.Gaps{}); err != nil { // what is missing of others is noted by who writes
		return nil, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	return &export.Heap{Graph: holders.Graph(), Objects: r, Jobs: c.Jobs}, nil
}

func askGCDump(c *cli.Context, path string) (*answer.Exported, error) {
	process := ask.Dump(c).Target().Process()
	out := &answer.Exported{Of: "heap"}
	return out, c.WriteFile(path, cli.New, func(w io.Writer) error {
		h, err := heapOf(c)
		if err != nil {
			return err
		}
		s, err := gcdump.Write(c.Context(), w, h, gcdump.Options{Process: process.Command, ID: process.ID, Time: process.DumpTime})
		if err != nil {
			return err
		}
		out.Gaps, out.Objects, out.Size, out.Edges, out.Types = s.Gaps, s.Objects, s.Size, s.Edges, s.Types
		return nil
	})
}

func askHeapSnapshot(c *cli.Context, path string) (*answer.Exported, error) {
	out := &answer.Exported{Of: "heap"}
	return out, c.WriteFile(path, cli.New, func(w io.Writer) error {
		h, err := heapOf(c)
		if err != nil {
			return err
		}
		s, err := heapsnapshot.Write(c.Context(), w, h)
		if err != nil {
			return err
		}
		out.Gaps, out.Objects, out.Size, out.Edges, out.Types = s.Gaps, s.Objects, s.Size, s.Edges, len(h.Graph.Types())
		return nil
	})
}
