package memorycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

type retainedOptions struct {
	Type      bool          `opt:"type" excludes:"assembly,namespace,gen,address" help:"a row for each type, as without options"`
	Assembly  bool          `opt:"assembly" excludes:"namespace,gen,address" help:"a row for each assembly"`
	Namespace bool          `opt:"namespace" excludes:"gen,address" help:"a row for each namespace"`
	Gen       bool          `opt:"gen" excludes:"address" help:"a row for each generation"`
	Garbage   bool          `opt:"garbage" help:"garbage instead of what lives: what dead objects retain"`
	Top       *int          `opt:"top" range:"0:" help:"rows at most, 0 for all (30; types of an object 10)"`
	Min       *uint64       `opt:"min" kind:"size" help:"least retained size of a row"`
	Object    cli.Object    `arg:"address,optional" kind:"type" help:"an object"`
	More      []target.Addr `arg:"more,optional" help:"more objects"`
}

func retainedCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "retained", OnlyAsks: true,
		Summary: "show the retained sizes of types or of objects: the memory freed with them",
		Help: "The retained size of an object is the size of everything that could not be reached without it. That of a type is what its objects retain " +
			"together: what one of them retains through another counts once. Rows of different types overlap: what a list retains, its elements retain in part.\n\n" +
			"With addresses it shows how much each object retains, by type. Only what lives counts; garbage of a type is " +
			"shown beside it, or alone with -garbage.",
		Examples: []cli.Example{
			{Line: "retained -top 10", Text: "which types hold most of the heap?"},
			{Line: "retained -namespace -min 10m", Text: "which parts of the program do?"},
			{Line: "retained Contoso.Order", Text: "how much do the types retain whose names contain this?"},
			{Line: "retained 7efbcd80b550", Text: "how much memory is freed with this object?"},
		},
	}, askRetained, memorytext.Retained)
}

func askRetained(c *cli.Context, o *retainedOptions) (*answer.Retained, error) {
	switch object := o.Object.Given && o.Object.Type == ""; {
	case o.Object.Type != "" && o.More != nil || object && (o.Garbage || o.Min != nil):
		return nil, c.Usagef("-garbage and -min are for types, and more addresses for objects")
	case object:
		return memory.RetainedBy(ask.Context(c), ask.View(c), append([]target.Addr{o.Object.Addr}, o.More...), or(o.Top, 10))
	}
	h, err := ask.View(c).Heap()
	if err != nil {
		return nil, err
	}
	types, err := (&ask.Types{Type: o.Object.Type}).Of(c, h)
	if err != nil {
		return nil, err
	}
	ro := graph.RetainedOptions{Type: types, Garbage: o.Garbage, Top: or(o.Top, 30), Least: or(o.Min, 0)}
	switch {
	case o.Assembly:
		ro.By = graph.ByAssembly
	case o.Namespace:
		ro.By = graph.ByNamespace
	case o.Gen:
		ro.By = graph.ByGeneration
	}
	return memory.Retained(ask.Context(c), ask.View(c), ro)
}

// or returns the value of an option, or its default if it was not given.
func or[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

type dominatorOptions struct {
	Tree     bool  `opt:"tree" excludes:"address" help:"the tree of owners, as without an address"`
	Min      share `opt:"min" default:"1%" excludes:"address" help:"of the tree: what a row retains at least, of all that lives or in bytes"`
	Children bool  `opt:"children" excludes:"tree,min,depth" help:"the objects that ADDRESS owns at first hand, or without one those that no other object owns: the largest first"`
	graph.TreeOptions
	graph.ChildOptions
	Object cli.Object `arg:"address,optional" help:"an object"`
}

// A share is a percentage of the live memory, or a number of bytes.
type share struct {
	percent float64
	size    uint64
}

// Placeholder describes a share in help.
func (share) Placeholder() string { return "N%|SIZE" }

// UnmarshalText parses a share.
func (s *share) UnmarshalText(text []byte) (err error) {
	if strings.HasSuffix(string(text), "%") {
		s.percent, err = cli.ParsePercent(string(text))
		return err
	}
	if s.size, err = cli.ParseSize(string(text)); err != nil || s.size == 0 {
		return fmt.Errorf("%q is neither a share, such as 1%%, nor a size", text)
	}
	return nil
}

func dominatorsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dominators", OnlyAsks: true,
		Summary: "show who owns an object and what it owns, or who owns most of the heap",
		Help: "An object owns another one that could not be reached without it. With an address the owners are shown, from the root down, each with what it retains, " +
			"then what the object owns. Where no other object owns it, paths follow that share nothing: all of them have to be cut to free it.\n\n" +
			"Without an address it shows the tree of owners, largest first. Objects that retain little are summed by type. The tree of owners can be walked by -children to any depth.",
		Examples: []cli.Example{
			{Line: "dominators -tree -min 5%", Text: "who owns the heap?"},
			{Line: "dominators 7efbcd80b550", Text: "who owns this object?"},
		},
	}, askDominators, memorytext.Dominators)
}

func askDominators(c *cli.Context, o *dominatorOptions) (*answer.Dominators, error) {
	if o.Children {
		o.ChildOptions.Object = o.Object.Addr
		return memory.DominatorChildren(ask.Context(c), ask.View(c), o.ChildOptions)
	}
	if o.Object.Given {
		return memory.DominatorsOf(ask.Context(c), ask.View(c), o.Object.Addr, o.Top)
	}
	o.Percent, o.Least = o.Min.percent, o.Min.size
	return memory.Dominators(ask.Context(c), ask.View(c), o.TreeOptions)
}

func referrersCommand() cli.Command {
	return linksCommand("referrers", "list what refers to an object, by which field, and what it retains",
		"Everything that refers to the object is listed, whether something keeps it alive or not, roots last.",
		"what refers to this object?", memory.Referrers)
}

func referentsCommand() cli.Command {
	return linksCommand("referents", "list what an object refers to, by which field, and what it retains",
		"What a ConditionalWeakTable attached to the object is among them, and the LoaderAllocator of a type that can be unloaded.",
		"what does this object refer to?", memory.Referents)
}

type linkOptions struct {
	graph.LinkOptions
	Object cli.Object `arg:"address" help:"the object"`
}

func linksCommand(name, summary, help, example string,
	links func(context.Context, *process.Process, target.Addr, graph.LinkOptions) (*answer.Links, error)) cli.Command {
	return cli.Ask(cli.Command{
		Name:    name,
		Summary: summary,
		Help: help + " A reference is strong, cached (from a part of a MemoryCache or an ArrayPool) or attached (by a dependent handle). " +
			"Weak references are left out: they keep nothing alive.",
		Examples: []cli.Example{{Line: name + " 7efbcd80b550", Text: example}},
	}, func(c *cli.Context, o *linkOptions) (*answer.Links, error) {
		return links(ask.Context(c), ask.View(c), o.Object.Addr, o.LinkOptions)
	}, memorytext.Links)
}

type gcRootOptions struct {
	graph.HoldOptions
	Object cli.Object `arg:"address" help:"the object"`
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
			{Line: "gcroot 7efbcd80b550", Text: "what holds this object?"},
			{Line: "gcroot --paths 5 7efbcd80b550", Text: "is it held in several ways?"},
		},
	}, askGCRoot, memorytext.RootPaths)
}

func askGCRoot(c *cli.Context, o *gcRootOptions) (*answer.RootPaths, error) {
	o.Order = ask.FormOf(c).Paths
	out, err := memory.GCRoot(ask.Context(c), ask.View(c), o.Object.Addr, o.HoldOptions)
	if err != nil || !c.SOS {
		return out, err
	}
	unproved := 0 // SOS's form does not mark unverified roots
	for i := range out.Paths {
		if out.Paths[i].Root.Conservative {
			unproved++
		}
	}
	if unproved > 0 {
		c.Note(fmt.Sprintf("warning: %d of %d roots are unverified: words that only look like references", unproved, len(out.Paths)))
	}
	return out, nil
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
		Examples: []cli.Example{{Line: "pathto 7efbcd805be8 7efbcd80b550", Text: "how does the first object refer to the second?"}},
	}, func(c *cli.Context, o *pathToOptions) (*answer.ObjectPath, error) {
		return memory.PathTo(ask.Context(c), ask.View(c), o.From.Addr, o.To.Addr, ask.FormOf(c).Paths)
	}, memorytext.ObjectPath)
}
