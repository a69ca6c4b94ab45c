package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/flows"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/objects/shapes"
)

type flowOptions struct {
	Thread string `opt:"thread" value:"ID" help:"only what flows with this thread: its index or OS id"`
	ask.ThreadIDs
	Object cli.Object `arg:"address,optional" help:"only what flows with this object"`
}

func flowsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "flows", Aliases: []string{"activities", "asynclocals", "logscopes"}, Group: cli.GroupApp, NeedsDump: true,
		Summary: "list what flows with threads and async methods: activities with their trace ids, log scopes, values of AsyncLocals",
		Help: "What a program keeps in an AsyncLocal flows with its code: in the ExecutionContext of a thread, and in the one with which a suspended async method will resume. " +
			"An Activity (a span of a distributed trace) is shown with its ids and its parents, a scope of logging with what it adds to each line of the log.\n\n" +
			"An object may be a System.Threading.Thread, an ExecutionContext, or an async method as dumpasync lists them.",
		Examples: []cli.Example{
			{Line: "flows", Text: "which trace and which log scopes belong to which code?"},
			{Line: "flows -managed -thread 12", Text: "those of the thread with managed id 12"},
		},
	}, askFlows, apptext.Flows)
}

func askFlows(c *cli.Context, o *flowOptions) (*answer.Flows, error) {
	v := ask.View(c)
	b, err := v.Shapes()
	if err != nil {
		return nil, err
	}
	items, err := v.Collections()
	if err != nil {
		return nil, err
	}
	out := &answer.Flows{Flows: []answer.Flow{}}
	r := flows.New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items)
	if o.Object.Given {
		x, err := b.Objects().Proven(o.Object.Addr)
		if err != nil {
			return nil, err
		}
		out.Flows, err = r.Of(x)
		return out, err
	}
	p := flows.Process{Walk: v.Walk, Scan: ask.Scan(c, "looking for async methods")}
	if p.Threads, err = ask.Threads(c); err != nil {
		return nil, err
	}
	if o.Thread != "" {
		t, err := o.Find(c, p.Threads, o.Thread)
		if err != nil {
			return nil, err
		}
		p.Threads = append(p.Threads[:0:0], *t)
		return out, r.List(c.Context(), p, out)
	}
	if p.Tasks, err = v.TaskReader(); err != nil {
		return nil, err
	}
	if p.Heap, err = ask.ScannedHeap(c, false); err != nil {
		return nil, err
	}
	return out, r.List(c.Context(), p, out)
}
