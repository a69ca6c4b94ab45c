package taskcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/tasktext"
)

func locksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "locks",
		Summary: "list the locks that are held or waited for, with owners and waiters",
		Help: "Monitors (lock statements), System.Threading.Lock, SemaphoreSlim with those that wait asynchronously, ReaderWriterLockSlim, " +
			"ManualResetEventSlim, CountdownEvent and Barrier, each with the field that holds it, and the static constructors that run. " +
			"Waiters are those that the runtime records while a thread waits; those inferred from " +
			"the frames of a thread alone are marked.",
		Examples: []cli.Example{{Line: "locks", Text: "who holds the contended lock?"}},
	}, func(c *cli.Context, o *locks.Options) (*answer.Locks, error) {
		out, err := locks.Locks(ask.Context(c), ask.View(c), *o)
		return out, cli.WithAnswer(err)
	}, tasktext.Locks)
}

func initializersCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "initializers", Aliases: []string{"cctors"},
		Summary: "list the classes whose static constructor threw an exception, with that exception",
		Help: "Every use of such a class throws a TypeInitializationException, which hides the exception that the static constructor threw. The marks are those of the runtime. " +
			"`locks` lists the static constructors that run, with the threads that wait for them.",
		Examples: []cli.Example{{Line: "initializers", Text: "which classes can't be used any more, and why?"}},
	}, ask.Plain(locks.Initializers), tasktext.Initializers)
}

func waitsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "waits",
		Summary: "explain why threads and async methods hang: deadlocks, held locks, semaphores, and threads that block until a task completes",
		Help: "Each thread is followed from what it waits for to who holds it, runs it, or has to complete it. A circle is a deadlock. Suspended async " +
			"methods are counted by the object that they wait for and the method that waits: semaphores, channels, rate limiters, promises. Who has " +
			"entered a semaphore is not recorded; it is likely a method that is past its own wait for it. Waits that a process has without work, such as " +
			"accept loops and idle readers, are counted apart. A statement has its evidence, and how strong it is: proved if the runtime recorded each wait.",
		Examples: []cli.Example{{Line: "waits", Text: "why does the process hang?"}},
	}, func(c *cli.Context, _ *cli.None) (*answer.Waits, error) {
		out, err := locks.Waits(ask.Context(c), ask.View(c), locks.Options{})
		return out, cli.WithAnswer(err)
	}, tasktext.Waits)
}
