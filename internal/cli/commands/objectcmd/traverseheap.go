package objectcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

type traverseOptions struct {
	XML  bool   `opt:"xml" help:"XML"`
	File string `arg:"file" kind:"file" help:"file to write"`
}

func traverseHeapCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "traverseheap",
		Summary: "write the heap as a graph to a file: types, roots, and objects with what they refer to",
		Help: "The file has the form of the CLR Profiler, or XML. Roots are handles that keep their object alive, objects that await finalization, " +
			"and live references of stacks. Free blocks are left out. The file must not exist yet.",
		Examples: []cli.Example{{Line: "traverseheap -xml heap.xml", Text: "the heap for a program of your own"}},
	}, askTraverseHeap, objecttext.GraphFile)
}

func askTraverseHeap(c *cli.Context, o *traverseOptions) (*answer.GraphFile, error) {
	if _, err := ask.ScannedHeap(c, false); err != nil {
		return nil, err
	}
	g, err := ask.View(c).HeapGraph(c.Context(), ask.Scan(c, "scanning the heap"))
	if err != nil {
		return nil, err
	}
	write := objecttext.WriteGraph
	if o.XML {
		write = objecttext.WriteGraphXML
	}
	file := &answer.GraphFile{File: o.File, Types: len(g.Types), Roots: len(g.Roots)}
	if err := c.WriteFile(o.File, cli.New, func(w io.Writer) (err error) {
		file.Objects, err = write(w, g)
		return err
	}); err != nil {
		for _, gap := range g.Noted() {
			c.Warn(gap)
		}
		return nil, err
	}
	file.Gaps = g.Gaps
	return file, nil
}
