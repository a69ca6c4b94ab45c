// Command sosgo answers what SOS answers about dumps of .NET processes.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

func main() {
	delayGC()
	// A closed pipe is then an error of the write, which ends the command quietly.
	signal.Ignore(syscall.SIGPIPE)
	env := environment(interrupts())
	env.Recover = os.Getenv("SOSGO_PANIC") == ""
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, env))
}

// firstGC is the heap in percent of the runtime's smallest one (4 MB) at which the first collection comes.
const firstGC = 400

// delayGC lets the first garbage collection wait until the heap has 16 MB. Most commands leave less than that, nearly all of it garbage of the
// opening, whose collection takes a tenth of their time. After the first collection the runtime's own pace holds again.
func delayGC() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	usual := debug.SetGCPercent(firstGC)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// environment returns what sosgo is made of: the commands, and what opens dumps.
func environment(interrupt <-chan os.Signal) cli.Env {
	return cli.Env{Commands: commands.All(), Open: commands.Open, Names: commands.Names, Greeting: commands.Greeting,
		Threads: commands.Threads, Limits: commands.Limits(), Sandbox: commands.Sandbox, Mask: commands.Mask, LookupEnv: os.LookupEnv, Interrupt: interrupt, Leave: os.Exit}
}

// interrupts delivers Ctrl-C. A second one before the first was taken ends the process: something does not listen.
func interrupts() <-chan os.Signal {
	raw, out := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(raw, os.Interrupt)
	go func() {
		for s := range raw {
			select {
			case out <- s:
			default:
				os.Exit(cli.ExitInterrupted)
			}
		}
	}()
	return out
}
