package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
)

type gcRootOptions struct {
	All      bool       `opt:"all" excludes:"paths" help:"a path from each root, and not only from each kind"`
	NoStacks bool       `opt:"nostacks" help:"no stacks: what lives once the methods that run now have returned"`
	Gen      *int       `opt:"gcgen" range:"0:2" help:"what keeps it alive in a collection of generation N (0, 1 or 2): older objects do"`
	Limit    int        `opt:"limit" range:"1:1048576" help:"at most N paths"`
	Retained bool       `opt:"retained" help:"also the object's retained size"`
	Paths    int        `opt:"paths" range:"1:1048576" help:"up to N paths that share only the object: all of them have to be cut to free it"`
	Object   cli.Object `arg:"address" help:"the object"`
}

func gcRootCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "gcroot", OnlyAsks: true,
		Summary: "show what keeps an object alive: the path to it from each kind of root",
		Help: "The shortest path is shown, one for each kind of root: static fields, thread statics, stacks, handles, the finalizer queue. " +
			"A reference by a dependent handle, which a ConditionalWeakTable has, counts once its key is reached. Where no path is found, the answer says whether " +
			"the object is garbage, or whether a possible holder can't be read.\n\n" +
			"In SOS's form there is a path from each root, the one that SOS would find, which is seldom the shortest; what SOS does not know comes last.",
		Examples: []cli.Example{
			{Line: "gcroot 7f10a4632890", Text: "what holds this object?"},
			{Line: "gcroot --paths 5 7f10a4632890", Text: "is it held in several ways?"},
		},
	}, askGCRoot, memorytext.RootPaths)
}

func askGCRoot(c *cli.Context, o *gcRootOptions) (*answer.RootPaths, error) {
	h, err := ask.Holders(c)
	if err != nil {
		return nil, err
	}
	return h.RootPaths(c.Context(), o.Object.Addr, graph.HoldOptions{All: o.All, NoStacks: o.NoStacks, Condemned: o.Gen, Limit: o.Limit,
		Retained: o.Retained, Disjoint: o.Paths, Order: ask.FormOf(c).Paths})
}

type pathToOptions struct {
	From cli.Object `arg:"from" help:"the object where the path starts"`
	To   cli.Object `arg:"to" help:"the object where it ends"`
}

func pathToCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "pathto", OnlyAsks: true,
		Summary:  "show how one object keeps another alive",
		Help:     "The shortest path is shown, in SOS's form the one that SOS would find.",
		Examples: []cli.Example{{Line: "pathto 7f10a4632890 7f10a4640018", Text: "how does the first object refer to the second?"}},
	}, func(c *cli.Context, o *pathToOptions) (*answer.ObjectPath, error) {
		h, err := ask.Holders(c)
		if err != nil {
			return nil, err
		}
		return h.PathTo(c.Context(), o.From.Addr, o.To.Addr, ask.FormOf(c).Paths)
	}, memorytext.ObjectPath)
}
