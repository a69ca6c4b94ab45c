package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type poolOptions struct {
	Log    bool `opt:"ti,hc" help:"the hill climbing log: why the pool changed the number of its workers"`
	Items  bool `opt:"wi" help:"what is queued"`
	Counts bool `opt:"stat" help:"what is queued, counted by type"`
}

func threadPoolCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "threadpool",
		Summary: "show the thread pool's status: workers, limits, queued items, and signs of starvation",
		Help: "Starvation is concluded from what the workers wait for, and that from the methods on their stacks: the " +
			"evidence stands beside it. Ages are relative to the newest time that the process recorded.",
		Examples: []cli.Example{
			{Line: "threadpool", Text: "do requests wait because no worker is free?"},
			{Line: "threadpool -wi", Text: "what is queued?"},
		},
	}, func(c *cli.Context, o *poolOptions) (*answer.ThreadPool, error) {
		out, err := locks.ThreadPool(ask.Context(c), ask.View(c), threadpool.Options{Log: o.Log, Items: o.Items || o.Counts})
		return out, cli.WithAnswer(err)
	}, func(p *report.Page, t *answer.ThreadPool, o *poolOptions) {
		tasktext.ThreadPool(p, t, tasktext.ThreadPoolOptions(*o))
	})
}

type queueOptions struct {
	Limit int `opt:"limit" range:"0:" default:"100" help:"items of a queue to print; 0 for all"`
}

func threadPoolQueueCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "threadpoolqueue", Aliases: []string{"tpq", "dumpthreadpoolqueues"},
		Summary: "list the items queued in the thread pool: the shared queues, and those of each worker",
		Help: "An item is a task, a callback of QueueUserWorkItem, the rest of an async method, or an object of the program with a method Execute. " +
			"Each is listed with its method and the argument.",
		Examples: []cli.Example{{Line: "tpq", Text: "which work waits for a worker, and in whose queue?"}},
	}, func(c *cli.Context, _ *queueOptions) (*answer.WorkQueues, error) {
		out, err := threadpool.WorkQueues(ask.Context(c), ask.View(c))
		return out, cli.WithAnswer(err)
	}, func(p *report.Page, q *answer.WorkQueues, o *queueOptions) { tasktext.WorkQueues(p, q, o.Limit) })
}

func timerInfoCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "timerinfo", Aliases: []string{"ti"},
		Summary: "list the scheduled timers, with their callbacks and purpose",
		Help: "Timers of System.Threading.Timer, of Task.Delay, of PeriodicTimer and of a CancellationTokenSource are the same to the runtime; what each " +
			"is for stands beside it, of a CancellationTokenSource with what it will call. A timer that was stopped is in no list. When one is " +
			"due is relative to the newest time that the process recorded: the dump may be later.",
		Examples: []cli.Example{{Line: "timerinfo", Text: "what is scheduled, and when?"}},
	}, ask.Plain(threadpool.Timers), tasktext.Timers)
}
