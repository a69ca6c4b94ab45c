package memorycmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/heapdiff"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

func diffCommand() cli.Command {
	return cli.Command{
		Name: "diff", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askDiff,
		Summary: "compares the heap with those of other dumps: what grew, and where it hangs",
		Help: "The dump that the session looks at is the oldest, the others follow in the order of time. Types are the same if their assemblies and " +
			"names are. With three dumps and more it is told what grew from each to the next.\n\n" +
			"-paths merges the shortest paths from roots to all objects, by type, and shows on which of them growth hangs, and in words " +
			"where most of it does; and how many objects stand where they stood. It builds the graph of each heap. " +
			fmt.Sprintf("Exit code %d says that the objects grew beyond -fail-above or -fail-growth.", cli.ExitGate),
		Options: []cli.Option{
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("types at most, and four times as many nodes of paths, 0 for all (%d)", diffTop)},
			{Name: "min", Kind: cli.Size, Summary: "leave out rows that changed by less than this"},
			{Name: "growing", Summary: "only what grew from each of three or more dumps to the next"},
			{Name: "paths", Summary: "also where growth hangs"},
			{Name: "fail-above", Kind: cli.Size, Summary: "fail if the objects grew by more bytes than this"},
			{Name: "fail-growth", Kind: cli.Str, Value: "PERCENT", Summary: "fail if the objects grew by more than this part of their size: 5%"},
		},
		Args:     []cli.Arg{{Name: "other", Kind: cli.File, Rest: true, Summary: "other dumps of the same program"}},
		Examples: []cli.Example{{Line: "sosgo -d before.dmp diff after.dmp -fail-growth 5%", Text: "a gate of a build"}},
		Result:   report.Result[answer.HeapDiff](),
	}
}

const diffTop = 25

func askDiff(c *cli.Context) (report.Answer, error) {
	others := c.Strings("other")
	gate, err := growthGate(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := heapdiff.Options{Growing: c.Bool("growing"), Top: diffTop}
	if o.Growing && len(others) < 2 {
		return report.Answer{}, c.Usagef("-growing wants three dumps or more")
	}
	if c.Has("top") {
		if o.Top, err = top(c); err != nil {
			return report.Answer{}, err
		}
	}
	o.Min, _ = c.Size("min")
	dumps := []*diffed{{path: c.Session.Path(), view: ask.View(c)}}
	for _, path := range others {
		d, err := c.OpenAnother(path)
		if err != nil {
			return report.Answer{}, err
		}
		v, _ := d.(*sosgo.Dump).View(c.Session.Runtime()) // it keeps the error
		dumps = append(dumps, &diffed{path: path, view: v})
	}
	list, err := summaries(c, dumps)
	if err != nil {
		return report.Answer{}, err
	}
	d := heapdiff.Compare(list, o)
	if c.Bool("paths") && len(dumps) > 1 {
		if err := sameObjects(c, d, dumps[len(dumps)-1].view); err != nil {
			return report.Answer{}, err
		}
	}
	return report.Say(d, memorytext.HeapDiff), gate(d)
}

// sameObjects compares the addresses of the first dump's objects with those of the last one's.
func sameObjects(c *cli.Context, d *answer.HeapDiff, last *sosgo.View) error {
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

// A diffed is one of the dumps that are compared.
type diffed struct {
	path     string
	view     *sosgo.View
	summary  *heapdiff.Summary
	jobs     int // of the graph, for as long as there is one: that of the session's dump stays
	warnings []error
	err      error
}

// summaries sums the dumps up. The first error in their order is the answer's.
func summaries(c *cli.Context, dumps []*diffed) ([]*heapdiff.Summary, error) {
	scans := make([]heap.ScanOptions, len(dumps))
	for i, d := range dumps {
		if !c.Bool("paths") {
			scans[i].Progress = c.Progress("scanning " + d.path).Set
		}
	}
	heapdiff.Each(len(dumps), c.Jobs, func(i, jobs int) {
		d, o := dumps[i], scans[i]
		o.Jobs, d.jobs = jobs, jobs
		if i == 0 {
			d.jobs = c.Jobs
		}
		d.err = d.sum(c.Context(), c.Bool("paths"), o)
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
	if c.Bool("paths") {
		for _, d := range dumps {
			g, err := d.view.Graph(c.Context(), graph.Options{}) // which there is by now
			if err != nil {
				return nil, err
			}
			ask.NoteKept(c, g)
		}
	}
	return list, nil
}

// sum sums a dump's heap up. It runs beside others.
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

// growthGate reads the options that make growth a failure.
func growthGate(c *cli.Context) (func(*answer.HeapDiff) error, error) {
	most, hasMost := c.Size("fail-above")
	part, hasPart := 0.0, c.Has("fail-growth")
	if hasPart {
		text, _ := c.Str("fail-growth")
		var err error
		if part, err = strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64); err != nil || part < 0 {
			return nil, c.Usagef("-fail-growth %s is no percentage", text)
		}
	}
	return func(d *answer.HeapDiff) error {
		grown := d.Objects.SizeChange
		switch before := d.Objects.Sizes[0]; {
		case hasMost && grown > 0 && uint64(grown) > most:
			return &cli.GateError{Text: fmt.Sprintf("the objects grew by %d bytes, which is more than %d", grown, most)}
		case hasPart && grown > 0 && float64(grown) > part/100*float64(before):
			return &cli.GateError{Text: fmt.Sprintf("the objects grew by %d bytes from %d, which is more than %g%%", grown, before, part)}
		}
		return nil
	}, nil
}
