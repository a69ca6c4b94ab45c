package memorycmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heapdiff"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/internal/text/memorytext"
	"github.com/sosgo/sosgo/report"
)

func diffCommand() cli.Command {
	return cli.Command{
		Name: "diff", Group: cli.GroupMemory, NeedsDump: true, Ask: askDiff,
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
	own, err := summary(c, c.Session.Path(), ask.View(c))
	if err != nil {
		return report.Answer{}, err
	}
	list := []*heapdiff.Summary{own}
	var last *sosgo.View
	for _, path := range others {
		s, v, err := otherSummary(c, path)
		if err != nil {
			return report.Answer{}, err
		}
		list, last = append(list, s), v
	}
	d := heapdiff.Compare(list, o)
	if c.Bool("paths") && last != nil {
		if err := sameObjects(c, d, last); err != nil {
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

func otherSummary(c *cli.Context, path string) (*heapdiff.Summary, *sosgo.View, error) {
	d, err := c.OpenAnother(path)
	if err != nil {
		return nil, nil, err
	}
	v, _ := d.(*sosgo.Dump).View(c.Session.Runtime()) // it keeps the error
	s, err := summary(c, path, v)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, v, nil
}

// summary sums a heap up.
func summary(c *cli.Context, path string, v *sosgo.View) (*heapdiff.Summary, error) {
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings() {
		c.Warn(fmt.Errorf("%s: %w", path, w))
	}
	if !c.Bool("paths") {
		return heapdiff.Summarize(c.Context(), path, h, ask.Scan(c, "scanning "+path))
	}
	g, err := v.Graph(c.Context(), graph.Options{Jobs: c.Jobs})
	if err != nil {
		return nil, err
	}
	ask.NoteKept(c, g)
	r, err := v.Objects()
	if err != nil {
		return nil, err
	}
	s, err := heapdiff.SummarizeGraph(c.Context(), path, g, g.Names(r), heapdiff.GraphOptions{Jobs: c.Jobs})
	if err != nil {
		return nil, err
	}
	for _, w := range g.Stats().Warnings() {
		c.Warn(fmt.Errorf("%s: %w", path, w))
	}
	return s, nil
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
