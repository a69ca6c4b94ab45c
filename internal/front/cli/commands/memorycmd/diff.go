package memorycmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/internal/heapdiff"
	"github.com/sosgo/sosgo/process"
)

type diffOptions struct {
	heapdiff.Options
	Paths      bool         `opt:"paths" help:"also the paths from roots to what grew"`
	FailAbove  *uint64      `opt:"fail-above" kind:"size" help:"failure if the objects grew by more bytes than this"`
	FailGrowth *growthShare `opt:"fail-growth" help:"failure if the objects grew by more than this part of their size: 5%"`
	Others     []string     `arg:"other" kind:"file" help:"other dumps of the same program"`
}

// A growthShare is a percentage that may be 0 or greater than 100.
type growthShare float64

// Placeholder describes a share in help.
func (growthShare) Placeholder() string { return "PERCENT" }

// UnmarshalText parses a percentage.
func (g *growthShare) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(string(text), "%"), 64)
	if err != nil || !(v >= 0) {
		return fmt.Errorf("%s is not a percentage", text)
	}
	*g = growthShare(v)
	return nil
}

func diffCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "diff", OnlyAsks: true,
		Summary: "compare the heap with those of other dumps: what grew, and who holds it",
		Help: "The session's dump is the oldest, the others follow in the order of time. Types are the same if their assemblies and " +
			"names are. With three dumps and more the answer lists what grew from each to the next.\n\n" +
			"-paths merges the shortest paths from roots to all objects, by type. It shows on which of them objects grew, and where most " +
			"did, and counts the objects that are still at their address. It builds the graph of each heap. " +
			"The exit code is 7 if the objects grew beyond -fail-above or -fail-growth.",
		Examples: []cli.Example{{Line: "sosgo -d before.dmp diff after.dmp -fail-growth 5%", Text: "a gate of a build"}},
	}, askDiff, memorytext.HeapDiff)
}

func askDiff(c *cli.Context, o *diffOptions) (*answer.HeapDiff, error) {
	if o.Growing && len(o.Others) < 2 {
		return nil, c.Usagef("-growing needs three dumps or more")
	}
	dumps := []*diffed{{path: remote.Shown(c.Session.Path()), view: ask.View(c)}}
	for _, path := range o.Others {
		d, err := c.OpenAnother(path)
		if err != nil {
			return nil, err
		}
		v, _ := d.(*process.Dump).Process(c.Session.Runtime()) // the process keeps the error
		dumps = append(dumps, &diffed{path: remote.Shown(path), view: v})
	}
	list, err := summaries(c, dumps, o.Paths)
	if err != nil {
		return nil, err
	}
	d := heapdiff.Compare(list, o.Options)
	if o.Paths && len(dumps) > 1 {
		if err := sameObjects(c, d, dumps[len(dumps)-1].view); err != nil {
			return nil, err
		}
	}
	return d, cli.WithAnswer(o.gate(d))
}

// sameObjects compares the object addresses of the first and the last dump.
func sameObjects(c *cli.Context, d *answer.HeapDiff, last *process.Process) error {
	before, err := ask.View(c).Graph(c.Context(), graph.Options{Jobs: c.Jobs})
	if err != nil {
		return err
	}
	after, err := last.Graph(c.Context(), graph.Options{Jobs: c.Jobs})
	if err != nil {
		return err
	}
	if d.Same, err = heapdiff.CompareAddresses(c.Context(), before, after); err != nil {
		return err
	}
	d.NoteAll(d.Same.Noted())
	return nil
}

// A diffed is one of the compared dumps.
type diffed struct {
	path     string // as others may see it
	view     *process.Process
	summary  *heapdiff.Summary
	jobs     int // workers for building the graph, until it exists; the session's dump keeps its graph
	warnings []error
	err      error
}

// summaries summarizes the dumps. It returns the first error in their order.
func summaries(c *cli.Context, dumps []*diffed, paths bool) ([]*heapdiff.Summary, error) {
	scans := make([]heap.ScanOptions, len(dumps))
	for i, d := range dumps {
		if !paths {
			scans[i].Progress = c.Progress("scanning " + d.path).Set
		}
	}
	heapdiff.Each(len(dumps), c.Jobs, func(i, jobs int) {
		d, o := dumps[i], scans[i]
		o.Jobs, d.jobs = jobs, jobs
		if i == 0 {
			d.jobs = c.Jobs
		}
		d.err = d.sum(c.Context(), paths, o)
	})
	var list []*heapdiff.Summary
	for i, d := range dumps {
		for _, w := range d.warnings {
			c.Warn(fmt.Errorf("%s: %w", d.path, w))
		}
		switch {
		case d.err != nil && i > 0:
			return nil, fmt.Errorf("%s: %w", d.path, d.err)
		case d.err != nil:
			return nil, d.err
		}
		list = append(list, d.summary)
	}
	if paths {
		for _, d := range dumps {
			g, err := d.view.Graph(c.Context(), graph.Options{}) // already built
			if err != nil {
				return nil, err
			}
			ask.NoteKept(c, g)
		}
	}
	return list, nil
}

// sum summarizes a dump's heap. Several calls may run concurrently.
func (d *diffed) sum(ctx context.Context, paths bool, o heap.ScanOptions) error {
	h, err := d.view.Heap()
	if err != nil {
		return err
	}
	d.warnings = append(d.warnings, h.Warnings()...)
	if !paths {
		d.summary, err = heapdiff.Summarize(ctx, d.path, h, o)
		return err
	}
	g, err := d.view.Graph(ctx, graph.Options{Jobs: d.jobs})
	if err != nil {
		return err
	}
	r, err := d.view.Objects()
	if err != nil {
		return err
	}
	if d.summary, err = heapdiff.SummarizeGraph(ctx, d.path, g, g.Names(r), heapdiff.GraphOptions{Jobs: o.Jobs}); err != nil {
		return err
	}
	d.warnings = append(d.warnings, g.Stats().Warnings()...)
	return nil
}

// gate returns a GateError if the objects grew more than the options allow.
func (o *diffOptions) gate(d *answer.HeapDiff) error {
	grown, before := d.Objects.SizeChange, d.Objects.Sizes[0]
	switch {
	case grown <= 0:
	case o.FailAbove != nil && uint64(grown) > *o.FailAbove:
		return &cli.GateError{Text: fmt.Sprintf("the objects grew by %d bytes, which is more than %d", grown, *o.FailAbove)}
	case o.FailGrowth != nil && float64(grown) > float64(*o.FailGrowth)/100*float64(before):
		return &cli.GateError{Text: fmt.Sprintf("the objects grew by %d bytes from %d, which is more than %g%%", grown, before, float64(*o.FailGrowth))}
	}
	return nil
}
