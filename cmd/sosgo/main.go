// Command sosgo answers what SOS answers about dumps of .NET processes. It only assembles the packages of
// internal/front; start with cli.Main.
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
	// A closed pipe then gives a write error, which ends the command quietly.
	signal.Ignore(syscall.SIGPIPE)
	env := environment(interrupts())
	env.Recover = os.Getenv("SOSGO_PANIC") == ""
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, env))
}

// firstGC is the heap size of the first collection, in percent of the runtime's minimum heap (4 MB).
const firstGC = 400

// delayGC delays the first garbage collection until the heap has 16 MB. Most commands allocate less, nearly all of it
// garbage from opening the dump. Collecting it takes a tenth of their time. After the first collection, the runtime's
// own pacing applies.
func delayGC() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	usual := debug.SetGCPercent(firstGC)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// environment returns the commands and functions that make up sosgo.
func environment(interrupt <-chan os.Signal) cli.Env {
	return cli.Env{Commands: commands.All(), Open: open, Names: commands.Names, Greeting: commands.Greeting,
		Threads: commands.Threads, Limits: commands.Limits(), Sandbox: commands.Sandbox, Mask: commands.Mask, LookupEnv: os.LookupEnv, Interrupt: interrupt, Leave: os.Exit}
}

// garbage is the room above --max-memory that Go's heap has, for garbage and for what is not counted, in bytes.
const garbage = 48 << 20

// open opens a dump. With --max-memory, the heap is collected more often near this limit, instead of growing to twice
// of what it holds.
func open(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	if o.MaxMemory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.MaxMemory + garbage)
	}
	return commands.Open(ctx, path, o)
}

// interrupts delivers Ctrl-C. A second one before the first is received ends the process, since the command does not
// respond.
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
