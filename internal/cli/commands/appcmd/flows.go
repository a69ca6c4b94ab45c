package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/flows"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects/shapes"
)

func flowsCommand() cli.Command {
	return cli.Command{
		Name: "flows", Aliases: []string{"activities", "asynclocals", "logscopes"}, Group: cli.GroupApp, NeedsDump: true, Ask: askFlows,
		Summary: "lists what flows with threads and async methods: activities with their trace ids, log scopes, values of AsyncLocals",
		Help: "What a program keeps in an AsyncLocal flows with its code: in the ExecutionContext of a thread, and in that with which a suspended async method will go on. " +
			"Of an Activity (a span of a distributed trace) the ids and those that it is a part of are shown, of a scope of logging what it notes with each line of the log.\n\n" +
			"An object may be a System.Threading.Thread, an ExecutionContext, or an async method as dumpasync lists them.",
		Args: []cli.Arg{ask.OptionalObject("address", "only what flows with this object")},
		Options: append([]cli.Option{
			{Name: "thread", Kind: cli.Str, Value: "ID", Summary: "only what flows with this thread: its index or OS id"},
		}, ask.ThreadOptions()...),
		Examples: []cli.Example{
			{Line: "flows", Text: "which trace and which log scopes belong to which code?"},
			{Line: "flows -managed -thread 12", Text: "those of the thread with managed id 12"},
		},
		Result: report.Result[answer.Flows](),
	}
}

func askFlows(c *cli.Context) (report.Answer, error) {
	v := ask.View(c)
	b, err := v.Shapes()
	if err != nil {
		return report.Answer{}, err
	}
	items, err := v.Collections()
	if err != nil {
		return report.Answer{}, err
	}
	out := &answer.Flows{Flows: []answer.Flow{}}
	r := flows.New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items)
	if a, ok := c.Addr("address"); ok {
		o, err := b.Objects().Proven(a)
		if err != nil {
			return report.Answer{}, err
		}
		out.Flows, err = r.Of(o)
		return ask.Say(out, err, apptext.Flows)
	}
	p := flows.Process{Walk: v.Walk, Scan: ask.Scan(c, "looking for async methods")}
	if p.Threads, err = ask.Threads(c); err != nil {
		return report.Answer{}, err
	}
	if id, ok := c.Str("thread"); ok {
		t, err := ask.FindThread(c, p.Threads, id)
		if err != nil {
			return report.Answer{}, err
		}
		p.Threads = append(p.Threads[:0:0], *t)
		return ask.Say(out, r.List(c.Context(), p, out), apptext.Flows)
	}
	if p.Tasks, err = v.TaskReader(); err != nil {
		return report.Answer{}, err
	}
	if p.Heap, err = ask.ScannedHeap(c, false); err != nil {
		return report.Answer{}, err
	}
	return ask.Say(out, r.List(c.Context(), p, out), apptext.Flows)
}
