package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/locks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/tasktext"
	"github.com/sosgo/sosgo/internal/report"
)

func locksCommand() cli.Command {
	return cli.Command{
		Name: "locks", Group: cli.GroupTasks, NeedsDump: true, Ask: askLocks,
		Summary: "list the locks that somebody holds or waits for: who holds each, and who waits",
		Help: "Monitors (lock statements), System.Threading.Lock, SemaphoreSlim with those that wait asynchronously, ReaderWriterLockSlim, " +
			"ManualResetEventSlim, CountdownEvent and Barrier. Who waits is what the runtime notes while a thread waits; what follows from the " +
			"frames of a thread alone is marked as inferred.",
		Options:  []cli.Option{{Name: "all", Summary: "also those that nobody holds and nobody waits for"}},
		Examples: []cli.Example{{Line: "locks", Text: "who holds the lock that they all wait for?"}},
		Result:   report.Result[answer.Locks](),
	}
}

func askLocks(c *cli.Context) (report.Answer, error) {
	r, err := ask.View(c).LockReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Describe(c.Context(), locks.Options{All: c.Bool("all"), Scan: ask.Scan(c, "looking for locks")})
	if err != nil {
		return report.Answer{}, err
	}
	if len(out.Locks) == 0 {
		err = out.Lost
	}
	return report.Say(out, tasktext.Locks), err
}

func waitsCommand() cli.Command {
	return cli.Command{
		Name: "waits", Group: cli.GroupTasks, NeedsDump: true, Ask: askWaits,
		Summary: "explain why threads hang: deadlocks, held locks, and threads that block until a task completes",
		Help: "Each thread is followed from what it waits for to who holds it, runs it, or has to complete it. A circle is a deadlock. A " +
			"statement has its evidence, and how strong it is: proved where the runtime noted each wait.",
		Examples: []cli.Example{{Line: "waits", Text: "why does the process hang?"}},
		Result:   report.Result[answer.Waits](),
	}
}

func askWaits(c *cli.Context) (report.Answer, error) {
	r, err := ask.View(c).LockReader()
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Waits(c.Context(), locks.Options{Scan: ask.Scan(c, "looking for locks")})
	if err != nil {
		return report.Answer{}, err
	}
	if len(out.Threads) == 0 {
		err = out.Lost
	}
	return report.Say(out, tasktext.Waits), err
}
