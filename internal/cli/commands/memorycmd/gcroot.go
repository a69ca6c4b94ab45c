package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

func gcRootCommand() cli.Command {
	return cli.Command{
		Name: "gcroot", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askGCRoot,
		Summary: "says what keeps an object alive: the path to it from each kind of root",
		Help: "Of all paths the shortest is shown, one for each kind of root: static fields, thread statics, stacks, handles, the finalizer queue. " +
			"A reference by a dependent handle, which a ConditionalWeakTable has, counts once its key is reached. Where no path is found, the answer says whether " +
			"the object is garbage, or whether something that could hold it can't be read.\n\n" +
			"In SOS's form there is a path from each root, the one that SOS would find, which is seldom the shortest; what SOS does not know comes last.",
		Options: []cli.Option{
			{Name: "all", Kind: cli.Bool, Summary: "a path from each root, and not only from each kind"},
			{Name: "nostacks", Kind: cli.Bool, Summary: "leave out stacks: what lives once the methods that run now have returned"},
			{Name: "gcgen", Kind: cli.Int, Value: "N", Summary: "what keeps it alive in a collection of generation N (0, 1 or 2): older objects do"},
			{Name: "limit", Kind: cli.Int, Value: "N", Summary: "at most N paths"},
			{Name: "retained", Kind: cli.Bool, Summary: "also how many bytes would be free without the object"},
			{Name: "paths", Kind: cli.Int, Value: "N", Summary: "up to N paths that have nothing in common but the object: all of them have to be cut to free it"},
		},
		Args: []cli.Arg{ask.Object("address", "the object")},
		Examples: []cli.Example{
			{Line: "gcroot 7f10a4632890", Text: "what holds this object?"},
			{Line: "gcroot --paths 5 7f10a4632890", Text: "is it held in several ways?"},
		},
		Result: report.Result[answer.RootPaths](),
	}
}

func askGCRoot(c *cli.Context) (report.Answer, error) {
	o, err := holdOptions(c)
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	o.Order = pathOrder(c)
	a, _ := c.Addr("address")
	out, err := h.RootPaths(c.Context(), a, o)
	return ask.Say(out, err, memorytext.RootPaths)
}

// pathOrder returns the order of paths that the form of the answer wants.
func pathOrder(c *cli.Context) graph.PathOrder {
	if c.SOS {
		return graph.OrderSOS
	}
	return graph.OrderShortest
}

func holdOptions(c *cli.Context) (graph.HoldOptions, error) {
	o := graph.HoldOptions{All: c.Bool("all"), NoStacks: c.Bool("nostacks"), Retained: c.Bool("retained")}
	for _, name := range []string{"limit", "paths"} {
		if n, given := c.Int(name); given && (n <= 0 || n > maxPaths) {
			return o, c.Usagef("-%s is a number from 1 to %d", name, maxPaths)
		}
	}
	limit, _ := c.Int("limit")
	disjoint, _ := c.Int("paths")
	o.Limit, o.Disjoint = int(limit), int(disjoint)
	if o.All && o.Disjoint > 0 {
		return o, c.Usagef("-all and -paths exclude each other")
	}
	if n, given := c.Int("gcgen"); given {
		if n < 0 || n > 2 {
			return o, c.Usagef("-gcgen is 0, 1 or 2")
		}
		gen := int(n)
		o.Condemned = &gen
	}
	return o, nil
}

// maxPaths is how many paths may be asked for.
const maxPaths = 1 << 20

func pathToCommand() cli.Command {
	return cli.Command{
		Name: "pathto", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askPathTo,
		Summary: "says how one object keeps another one alive",
		Help:    "The shortest path is shown, in SOS's form the one that SOS would find.",
		Args: []cli.Arg{
			ask.Object("from", "the object where the path starts"),
			ask.Object("to", "the object where it ends"),
		},
		Examples: []cli.Example{{Line: "pathto 7f10a4632890 7f10a4640018", Text: "how does the first object refer to the second?"}},
		Result:   report.Result[answer.ObjectPath](),
	}
}

func askPathTo(c *cli.Context) (report.Answer, error) {
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	from, _ := c.Addr("from")
	to, _ := c.Addr("to")
	out, err := h.PathTo(c.Context(), from, to, pathOrder(c))
	return ask.Say(out, err, memorytext.ObjectPath)
}
