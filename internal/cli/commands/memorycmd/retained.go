package memorycmd

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// defaultRetained is how many rows of retained there are where nobody says otherwise.
const defaultRetained = 30

func retainedCommand() cli.Command {
	return cli.Command{
		Name: "retained", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askRetained,
		Summary: "says what would be free without the objects of a type, or without one object",
		Help: "The retained size of an object is the size of all that could not be reached without it. That of a type is what its objects retain " +
			"together: what one of them retains through another counts once. Rows of different types overlap: what a list retains, its elements retain in part.\n\n" +
			"With addresses it says of each object how much it retains, and of which types. Only what lives counts; of what nothing keeps alive the " +
			"rows have the size beside it, or are with -garbage.",
		Options: []cli.Option{
			{Name: "type", Kind: cli.Bool, Summary: "a row for each type; so it is where nothing else is said"},
			{Name: "assembly", Kind: cli.Bool, Summary: "a row for each assembly"},
			{Name: "namespace", Kind: cli.Bool, Summary: "a row for each namespace"},
			{Name: "gen", Kind: cli.Bool, Summary: "a row for each generation"},
			{Name: "garbage", Kind: cli.Bool, Summary: "what dead objects retain, of what is dead"},
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("at most N rows, 0 for all (%d; of an object's types %d)", defaultRetained, defaultTop)},
			{Name: "min", Kind: cli.Size, Summary: "leave out rows that retain less than this"},
		},
		Args: []cli.Arg{
			ask.OptionalObject("address", "an object"),
			{Name: "more", Kind: cli.Str, Optional: true, Rest: true, Summary: "more objects"},
		},
		Examples: []cli.Example{
			{Line: "retained -top 10", Text: "which types hold most of the heap?"},
			{Line: "retained -namespace -min 10m", Text: "which parts of the program do?"},
			{Line: "retained 7f10a4632890", Text: "what would be free without this object?"},
		},
		Result: report.Result[answer.Retained](),
	}
}

func askRetained(c *cli.Context) (report.Answer, error) {
	o := graph.RetainedOptions{Garbage: c.Bool("garbage")}
	var err error
	if o.Top, err = topOr(c, defaultRetained); err != nil {
		return report.Answer{}, err
	}
	o.Least, _ = c.Size("min")
	chosen := 0
	for by := graph.ByType; by <= graph.ByGeneration; by++ {
		name := by.String()
		if by == graph.ByGeneration {
			name = "gen"
		}
		if c.Bool(name) {
			o.By = by
			chosen++
		}
	}
	objects, err := addresses(c)
	switch {
	case err != nil:
		return report.Answer{}, err
	case chosen > 1:
		return report.Answer{}, c.Usagef("-type, -assembly, -namespace and -gen exclude each other")
	case len(objects) > 0 && (chosen > 0 || o.Garbage || o.Least > 0):
		return report.Answer{}, c.Usagef("with addresses there is no option but -top")
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	if len(objects) > 0 {
		types, _ := topOr(c, defaultTop)
		out, err := h.RetainedBy(c.Context(), objects, types)
		return ask.Say(out, err, memorytext.Retained)
	}
	out, err := h.Retained(c.Context(), o)
	return ask.Say(out, err, memorytext.Retained)
}

// addresses are the arguments address and more.
func addresses(c *cli.Context) ([]target.Addr, error) {
	first, ok := c.Addr("address")
	if !ok {
		return nil, nil
	}
	out := []target.Addr{first}
	for _, text := range c.Strings("more") {
		a, err := cli.ParseAddress(text)
		if err != nil {
			return nil, c.Usagef("%q is not an address", text)
		}
		out = append(out, a)
	}
	return out, nil
}

// defaultShare is what a row of the tree of dominators retains at least, where nobody says otherwise.
const (
	defaultShare = 1.0
	defaultDepth = 12
)

func dominatorsCommand() cli.Command {
	return cli.Command{
		Name: "dominators", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askDominators,
		Summary: "says who owns an object and what it owns, or who owns most of the heap",
		Help: "An object owns another one that could not be reached without it. With an address the owners are shown, from the root down, each with what it retains, " +
			"then what the object owns. Where no other object owns it, paths follow that have nothing in common: all of them have to be cut to free it.\n\n" +
			"Without an address it is the tree of owners, largest first. What retains little is put together by type.",
		Options: []cli.Option{
			{Name: "tree", Kind: cli.Bool, Summary: "the tree of owners; so it is without an address"},
			{Name: "min", Kind: cli.Str, Value: "N%|SIZE", Summary: fmt.Sprintf("of the tree: what a row retains at least, of all that lives or in bytes (%g%%)", defaultShare)},
			{Name: "depth", Kind: cli.Int, Summary: fmt.Sprintf("of the tree: how many levels (%d)", defaultDepth)},
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("of an object: how many objects that it owns are listed (%d)", defaultTop)},
		},
		Args: []cli.Arg{ask.OptionalObject("address", "an object")},
		Examples: []cli.Example{
			{Line: "dominators -tree -min 5%", Text: "who owns the heap?"},
			{Line: "dominators 7f10a4632890", Text: "who owns this object?"},
		},
		Result: report.Result[answer.Dominators](),
	}
}

func askDominators(c *cli.Context) (report.Answer, error) {
	a, one := c.Addr("address")
	if one && (c.Bool("tree") || c.Has("min") || c.Has("depth")) {
		return report.Answer{}, c.Usagef("with an address there is no option but -top")
	}
	top, err := topOr(c, defaultTop)
	if err != nil {
		return report.Answer{}, err
	}
	o, err := treeOptions(c)
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	var out *answer.Dominators
	if one {
		out, err = h.DominatorsOf(c.Context(), a, top)
	} else {
		out, err = h.DominatorTree(c.Context(), o)
	}
	return ask.Say(out, err, memorytext.Dominators)
}

func treeOptions(c *cli.Context) (graph.TreeOptions, error) {
	o := graph.TreeOptions{Percent: defaultShare, Depth: defaultDepth}
	if text, ok := c.Str("min"); ok {
		var err error
		if o.Percent, o.Least, err = share(c, "min", text); err != nil {
			return o, err
		}
	}
	if n, ok := c.Int("depth"); ok {
		if n <= 0 || n > math.MaxInt32 {
			return o, c.Usagef("-depth %d is not a number of levels", n)
		}
		o.Depth = int(n)
	}
	return o, nil
}

// share reads a share in percent, or a size in bytes.
func share(c *cli.Context, option, text string) (percent float64, size uint64, err error) {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err = strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return 0, 0, c.Usagef("-%s %s is not a share: 1%% to 100%%", option, text)
		}
		return percent, 0, nil
	}
	if size, err = cli.ParseSize(text); err != nil || size == 0 {
		return 0, 0, c.Usagef("-%s %s is neither a share, as 1%% is, nor a size", option, text)
	}
	return 0, size, nil
}

// topOr reads the option -top.
func topOr(c *cli.Context, otherwise int) (int, error) {
	if !c.Has("top") {
		return otherwise, nil
	}
	return top(c)
}

// defaultLinks is how many objects at the other ends of references are listed where nobody says otherwise.
const defaultLinks = 50

func referrersCommand() cli.Command {
	return linksCommand("referrers", "says what refers to an object, by which field, and what it retains",
		"Everything that refers to the object is listed, whether something keeps it alive or not, roots last.",
		"what refers to this object?", (*graph.Holders).Referrers)
}

func referentsCommand() cli.Command {
	return linksCommand("referents", "says what an object refers to, by which field, and what it retains",
		"What a ConditionalWeakTable attached to the object is among them, and the LoaderAllocator of a type that can be unloaded.",
		"what does this object refer to?", (*graph.Holders).Referents)
}

func linksCommand(name, summary, help, example string, links linksQuestion) cli.Command {
	return cli.Command{
		Name: name, Group: cli.GroupMemory, NeedsDump: true, Ask: func(c *cli.Context) (report.Answer, error) { return askLinks(c, links) },
		Summary: summary,
		Help: help + " A reference is strong, cached (from a part of a MemoryCache or an ArrayPool) or attached (by a dependent handle). " +
			"Weak references are none: they keep nothing alive.",
		Options: []cli.Option{
			{Name: "stat", Kind: cli.Bool, Summary: "count them by type"},
			{Name: "limit", Kind: cli.Int, Value: "N", Summary: fmt.Sprintf("list at most N, 0 for all (%d)", defaultLinks)},
		},
		Args:     []cli.Arg{ask.Object("address", "the object")},
		Examples: []cli.Example{{Line: name + " 7f10a4632890", Text: example}},
		Result:   report.Result[answer.Links](),
	}
}

type linksQuestion func(*graph.Holders, context.Context, target.Addr, graph.LinkOptions) (*answer.Links, error)

func askLinks(c *cli.Context, links linksQuestion) (report.Answer, error) {
	o := graph.LinkOptions{Limit: defaultLinks, Types: c.Bool("stat")}
	if n, ok := c.Int("limit"); ok {
		if n < 0 || n > math.MaxInt32 {
			return report.Answer{}, c.Usagef("-limit %d is not a number of rows", n)
		}
		o.Limit = int(n)
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	out, err := links(h, c.Context(), a, o)
	return ask.Say(out, err, memorytext.Links)
}
