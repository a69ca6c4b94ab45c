package threadcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

type managedOptions struct {
	Live             bool `opt:"live" help:"only threads that an OS thread runs"`
	Special          bool `opt:"special" help:"also the runtime's own threads"`
	Stacks           bool `opt:"stacks" help:"what each thread does or waits for, its topmost managed frame, and the topmost outside the framework"`
	ManagedException bool `opt:"managedexception" help:"no output: the first thread that threw an exception becomes the current one"`
}

func clrThreadsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "clrthreads",
		Summary: "list the managed threads: ids, state, GC mode, allocation context, exception",
		Help: "DBG is the number that setthread and dso take; XXXX marks a thread that is dead or has " +
			"not started. Lock Count is -00001 where the runtime does not count locks (.NET 8 and later).",
	}, askCLRThreads, threadtext.ManagedThreads)
}

func askCLRThreads(c *cli.Context, o *managedOptions) (*answer.ManagedThreads, error) {
	if o.ManagedException {
		rt, err := ask.Runtime(c)
		if err != nil {
			return nil, err
		}
		list, err := ask.Threads(c)
		if err != nil {
			return nil, err
		}
		t, err := threads.FirstThrower(list, rt)
		if t != nil {
			c.Session.SetThread(t.ID())
		}
		return nil, err
	}
	return ask.View(c).ManagedThreads(c.Context(), sosgo.ManagedOptions{
		ManagedOptions: threads.ManagedOptions{Live: o.Live, Special: o.Special}, Activities: o.Stacks})
}
