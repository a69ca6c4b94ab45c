package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

type sizeOptions struct {
	MT    *target.Addr `opt:"mt" excludes:"address" help:"all objects of this MethodTable together"`
	Short bool         `opt:"short" help:"only addresses, one a line, for scripts"`
	graph.KeepOptions
	Object cli.Object `arg:"address,optional" help:"the object"`
}

func objSizeCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "objsize",
		Summary: "list what an object, or all objects of a type, keep alive",
		Usage:   "[-stat] [-short] [-retained] [-strings] ADDRESS | -mt MT",
		Help: "That is everything that can be reached from it, whatever else keeps it alive; its retained size (see retained) is usually smaller. " +
			"Objects are listed in the order in which they are reached.",
		Examples: []cli.Example{{Line: "objsize -stat 7efbcd806bc0", Text: "what does this object keep alive?"}},
	}, askObjSize, func(p *report.Page, x *answer.Closure, o *sizeOptions) {
		objecttext.Closure(p, x, objecttext.ListingOptions{Short: o.Short})
	})
}

func askObjSize(c *cli.Context, o *sizeOptions) (*answer.Closure, error) {
	if !o.Object.Given && o.MT == nil {
		return nil, c.Usagef("objsize needs the address of an object, or -mt and a type")
	}
	if o.MT != nil {
		out, err := memory.ClosureOfType(ask.Context(c), ask.View(c), *o.MT, o.KeepOptions)
		return out, ask.AboutType(c, *o.MT, err)
	}
	return memory.Closure(ask.Context(c), ask.View(c), o.Object.Addr, o.KeepOptions)
}

type unreachableOptions struct {
	Short       bool        `opt:"short" help:"only addresses, one a line, for scripts"`
	NoFinalizer bool        `opt:"nofinalizer" help:"also objects that only the finalizer queue keeps alive"`
	Start       target.Addr `arg:"start" help:"first word"`
	End         target.Addr `arg:"end" help:"address behind the last word"`
}

func notReachableCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "notreachableinrange",
		Summary: "list the unreachable objects that the words of a range refer to",
		Help:    "The words are addresses of objects, such as a part of the finalizer queue, whose bounds finalizequeue prints.",
	}, askNotReachable, func(p *report.Page, u *answer.Unreachable, o *unreachableOptions) {
		objecttext.Unreachable(p, u, objecttext.ListingOptions{Short: o.Short})
	})
}

func askNotReachable(c *cli.Context, o *unreachableOptions) (*answer.Unreachable, error) {
	if o.End < o.Start {
		return nil, c.Usagef("the range ends before it starts")
	}
	out, err := memory.Unreachable(ask.Context(c), ask.View(c), target.Range{Start: o.Start, End: o.End}, memory.UnreachableOptions{NoFinalizer: o.NoFinalizer})
	if err == nil && len(out.Others) > 0 && c.Mask() != nil {
		out.Others = nil // perhaps parts of texts
		out.Note(target.Unsupportedf("words that are no addresses of objects are not shown where secrets are masked"))
	}
	return out, err
}
