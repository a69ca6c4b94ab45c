package objectcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func traverseHeapCommand() cli.Command {
	return cli.Command{
		Name: "traverseheap", Group: cli.GroupObjects, NeedsDump: true, Ask: askTraverseHeap,
		Summary: "writes the heap as a graph to a file: types, roots, and objects with what they refer to",
		Help: "The file has the form of the CLR Profiler, or XML. Roots are handles that keep their object alive, objects that wait for their finalizer, " +
			"and what the compilers say that stacks hold. Free blocks are left out. The file must not exist yet.",
		Options:  []cli.Option{{Name: "xml", Kind: cli.Bool, Summary: "write XML"}},
		Args:     []cli.Arg{{Name: "file", Kind: cli.File, Summary: "file to write"}},
		Examples: []cli.Example{{Line: "traverseheap -xml heap.xml", Text: "the heap for a program of your own"}},
		Result:   report.Result[answer.GraphFile](),
	}
}

func askTraverseHeap(c *cli.Context) (report.Answer, error) {
	if _, err := ask.ScannedHeap(c, false); err != nil {
		return report.Answer{}, err
	}
	g, err := ask.View(c).HeapGraph(c.Context(), ask.Scan(c, "scanning the heap"))
	if err != nil {
		return report.Answer{}, err
	}
	write := objecttext.WriteGraph
	if c.Bool("xml") {
		write = objecttext.WriteGraphXML
	}
	file := &answer.GraphFile{Types: len(g.Types), Roots: len(g.Roots)}
	file.File, _ = c.Str("file")
	if err := c.WriteFile(file.File, cli.New, func(w io.Writer) (err error) {
		file.Objects, err = write(w, g)
		return err
	}); err != nil {
		for _, gap := range g.Noted() {
			c.Warn(gap)
		}
		return report.Answer{}, err
	}
	file.Gaps = g.Gaps
	return report.Say(file, objecttext.GraphFile), nil
}
