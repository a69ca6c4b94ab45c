// Package export writes what a dump holds for other tools: the heap for PerfView, Visual Studio, Chrome DevTools and
// memlab, the heap and the stacks for pprof, speedscope and flame graphs, and tables for databases. It does not judge
// what it writes: the questions of sosgo.View do. Start at [GCDump], [HeapProfile] and [Tables].
//
//	f, err := os.Create("heap.gcdump")
//	written, err := export.GCDump(ctx, f, view.Process, export.GCDumpOptions{})
//
// Files are the same for any number of processors. Names and texts come from the process and may be hostile: each format
// escapes them. They may be secret, too: set Mask to what View.Mask returns for files that are sent.
//
// Stability: unstable.
package export

import (
	"context"
	"io"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/export/gcdump"
	"github.com/sosgo/sosgo/internal/export/heapsnapshot"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// GCDumpOptions select the content of a .gcdump file.
type GCDumpOptions struct {
	Garbage bool                // also unreachable objects
	Mask    func(string) string // if not nil, replaces secrets in the command line and in names
}

// GCDump writes the object graph for PerfView, Visual Studio and "dotnet-gcdump report". A heap that is too large for
// them is target.ErrUnsupported, and nothing is written.
func GCDump(ctx context.Context, w io.Writer, p *process.Process, o GCDumpOptions) (*answer.Exported, error) {
	h, err := heapOf(ctx, p, o.Mask)
	if err != nil {
		return nil, err
	}
	about := p.Target().Process()
	s, err := gcdump.Write(ctx, w, h, gcdump.Options{Process: masked(o.Mask, about.Command), ID: about.ID, Machine: machine(p.Target()),
		Time: about.DumpTime, Garbage: o.Garbage})
	if err != nil {
		return nil, err
	}
	out := &answer.Exported{Form: "gcdump", Of: "heap", Objects: s.Objects, Size: s.Size, Edges: s.Edges, Types: s.Types,
		Garbage: s.Garbage, WithGarbage: o.Garbage}
	out.NoteAll(s.Noted())
	return out, nil
}

// HeapSnapshotOptions change a .heapsnapshot file.
type HeapSnapshotOptions struct {
	Mask func(string) string // if not nil, replaces secrets in the texts of strings and in names
}

// HeapSnapshot writes the live objects for Chrome DevTools, Visual Studio Code and memlab. A heap that is too large for
// them is target.ErrUnsupported, and nothing is written.
func HeapSnapshot(ctx context.Context, w io.Writer, p *process.Process, o HeapSnapshotOptions) (*answer.Exported, error) {
	h, err := heapOf(ctx, p, o.Mask)
	if err != nil {
		return nil, err
	}
	options := heapsnapshot.Options{Mask: o.Mask}
	if o.Mask != nil {
		if options.Hides, err = sensitive.Beside(ctx, p); err != nil {
			return nil, err
		}
	}
	s, err := heapsnapshot.Write(ctx, w, h, options)
	if err != nil {
		return nil, err
	}
	out := &answer.Exported{Form: "heapsnapshot", Of: "heap", Objects: s.Objects, Size: s.Size, Edges: s.Edges, Types: len(h.Graph.Types())}
	out.NoteAll(s.Noted())
	return out, nil
}

// heapOf returns the heap to write. It fails if no object is readable, since an empty file would claim that there are no
// objects; writers note other missing parts.
func heapOf(ctx context.Context, p *process.Process, mask func(string) string) (*pieces.Heap, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*pieces.Heap, error) {
		holders, err := c.Holders(ctx, graph.Options{})
		if err != nil {
			return nil, err
		}
		if _, err := holders.Incomplete(&answer.Gaps{}); err != nil {
			return nil, err
		}
		r, err := c.Objects()
		if err != nil {
			return nil, err
		}
		return &pieces.Heap{Graph: holders.Graph(), Objects: r, Jobs: c.Jobs(), Mask: mask}, nil
	})
}

func masked(mask func(string) string, text string) string {
	if mask == nil {
		return text
	}
	return mask(text)
}

// machine returns the machine's name from the process's environment, or "" if it is unknown.
func machine(t target.Target) string {
	p, ok := t.(interface{ Environment() []string })
	if !ok {
		return ""
	}
	for _, v := range p.Environment() {
		if name, value, _ := strings.Cut(v, "="); value != "" && (name == "HOSTNAME" || name == "COMPUTERNAME") {
			return value
		}
	}
	return ""
}
