// Package commands is the table of sosgo's commands, which stand in packages by
// the groups that help shows: objectcmd, threadcmd, typecmd, processcmd. A
// command turns its options into one question to the library and names the
// renderer of the answer; it computes nothing and prints nothing.
package commands

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/objectcmd"
	"github.com/sosgo/sosgo/internal/commands/processcmd"
	"github.com/sosgo/sosgo/internal/commands/threadcmd"
	"github.com/sosgo/sosgo/internal/commands/typecmd"
)

// All returns the commands, by group.
func All() []cli.Command {
	return slices.Concat(
		objectcmd.Commands(),
		threadcmd.Commands(),
		typecmd.Commands(),
		processcmd.Commands(),
	)
}

// Open opens a dump for the command line. Which of its runtimes is looked at is
// the session's to remember.
func Open(_ context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	options := sosgo.Options{Modules: o.Modules, SymbolServers: o.SymbolServers, SymbolCache: o.SymbolCache,
		NoMmap: o.NoMmap, Jobs: o.Jobs, Context: o.Context}
	if o.Progress != nil {
		options.Progress = func(done, total int64) { o.Progress(uint64(done), uint64(total)) }
	}
	return sosgo.Open(path, options)
}

// Greeting is what the prompt says of a dump before anything was asked.
func Greeting(d cli.Dump, runtime string) []string { return threadcmd.Greeting(d, runtime) }
