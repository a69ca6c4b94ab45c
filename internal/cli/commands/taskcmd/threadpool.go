package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/threadpool"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
)

func threadPoolCommand() cli.Command {
	return cli.Command{
		Name: "threadpool", Group: cli.GroupTasks, NeedsDump: true, Ask: askThreadPool,
		Summary: "show the thread pool's status: workers, limits, what is queued, and whether it keeps up or is starved (starvation)",
		Help: "Whether the pool is starved is concluded from what its workers wait for, and that from the methods on their stacks: the " +
			"evidence stands beside it. No dump has the time at which it was made; times are compared with the newest one that the process noted.",
		Options: []cli.Option{
			{Name: "ti", Aliases: []string{"hc"}, Summary: "the hill climbing log: why the pool changed the number of its workers"},
			{Name: "wi", Summary: "what is queued"},
			{Name: "stat", Summary: "what is queued, counted by type"},
		},
		Examples: []cli.Example{
			{Line: "threadpool", Text: "do requests wait because no worker is free?"},
			{Line: "threadpool -wi", Text: "what is queued?"},
		},
		Result: report.Result[answer.ThreadPool](),
	}
}

func askThreadPool(c *cli.Context) (report.Answer, error) {
	r, err := ask.View(c).ThreadPoolReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Describe(c.Context(), threadpool.Options{Log: c.Bool("ti"), Items: c.Bool("wi") || c.Bool("stat")})
	if err != nil {
		return report.Answer{}, err
	}
	out.WantsItems, out.WantsCounts = c.Bool("wi"), c.Bool("stat")
	return report.Say(out, tasktext.ThreadPool), nil
}

func threadPoolQueueCommand() cli.Command {
	return cli.Command{
		Name: "threadpoolqueue", Aliases: []string{"tpq", "dumpthreadpoolqueues"}, Group: cli.GroupTasks, NeedsDump: true, Ask: askThreadPoolQueue,
		Summary: "list what is queued in the thread pool: the shared queues, and those of each worker",
		Help: "An item is a task, a callback of QueueUserWorkItem, the rest of an async method, or an object of the program with a method Execute. " +
			"Of each stand the method that it will run and what that will get.",
		Options: []cli.Option{
			{Name: "limit", Kind: cli.Int, Summary: "items of a queue to print; 0 for all (100)"},
		},
		Examples: []cli.Example{{Line: "tpq", Text: "which work waits for a worker, and in whose queue?"}},
		Result:   report.Result[answer.WorkQueues](),
	}
}

func askThreadPoolQueue(c *cli.Context) (report.Answer, error) {
	limit, ok := c.Int("limit")
	if !ok {
		limit = 100
	}
	if limit < 0 {
		return report.Answer{}, c.Usagef("-limit is a number of items, or 0 for all")
	}
	r, err := ask.View(c).ThreadPoolReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Queues(c.Context())
	if err != nil {
		return report.Answer{}, err
	}
	if len(out.Queues) == 0 {
		err = out.Lost
	}
	return report.Say(out, func(p *report.Page, q *answer.WorkQueues) { tasktext.WorkQueues(p, q, int(limit)) }), err
}

func timerInfoCommand() cli.Command {
	return cli.Command{
		Name: "timerinfo", Aliases: []string{"ti"}, Group: cli.GroupTasks, NeedsDump: true, Ask: askTimerInfo,
		Summary: "list the timers that are scheduled, with what they call and what they are for",
		Help: "Timers of System.Threading.Timer, of Task.Delay, of PeriodicTimer and of a CancellationTokenSource are the same to the runtime; what each " +
			"is for stands beside it, of a CancellationTokenSource with what it will call. A timer that was stopped is in no list. When one is " +
			"due is counted from the newest time that the process noted: the dump may be of later.",
		Examples: []cli.Example{{Line: "timerinfo", Text: "what will happen by itself, and when?"}},
		Result:   report.Result[answer.Timers](),
	}
}

func askTimerInfo(c *cli.Context) (report.Answer, error) {
	r, err := ask.View(c).ThreadPoolReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Timers(c.Context())
	if err != nil {
		return report.Answer{}, err
	}
	if len(out.Timers) == 0 {
		err = out.Lost
	}
	return report.Say(out, tasktext.Timers), err
}
