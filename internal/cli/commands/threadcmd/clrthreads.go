package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func clrThreadsCommand() cli.Command {
	return cli.Command{
		Name: "clrthreads", Group: cli.GroupThreads, NeedsDump: true, Ask: askCLRThreads,
		Summary: "list the managed threads: ids, state, GC mode, allocation context, exception",
		Help: "DBG is the number by which setthread and dso take a thread; XXXX stands for a thread that is dead or has " +
			"not started. Lock Count is -00001 where the runtime does not count locks (.NET 8 and later).",
		Options: []cli.Option{
			{Name: "live", Summary: "leave out threads that no OS thread runs"},
			{Name: "special", Summary: "also list the runtime's own threads"},
			{Name: "stacks", Summary: "what each thread does or waits for, its topmost managed frame, and the topmost that is not the framework's"},
			{Name: "managedexception", Summary: "make the first thread that threw an exception the current one, and print nothing"},
		},
		Result: report.Result[answer.ManagedThreads](),
	}
}

func askCLRThreads(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	if c.Bool("managedexception") {
		t, err := threads.FirstThrower(list, rt)
		if t != nil {
			c.Session.SetThread(t.ID())
		}
		return report.Answer{}, err
	}
	o := threads.ManagedOptions{Live: c.Bool("live"), Special: c.Bool("special")}
	if c.Bool("stacks") {
		if o.Walker, err = ask.View(c).Walker(); err != nil {
			return report.Answer{}, err
		}
	}
	d, err := threads.DescribeManaged(c.Context(), ask.Dump(c).Target(), rt, list, o)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(d, threadtext.ManagedThreads), nil
}
