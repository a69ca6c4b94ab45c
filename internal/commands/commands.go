// Package commands holds sosgo's commands: each one parses its options, asks
// the library, and prints the result in SOS's form or as JSON. What a command
// prints can all be had as Go values from the library; nothing is computed
// here.
package commands

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
)

// All returns the commands, by group.
func All() []cli.Command {
	return slices.Concat(
		objectCommands(),
		heapCommands(),
		handleCommands(),
		threadCommands(),
		stackCommands(),
		stackToolCommands(),
		typeCommands(),
		codeCommands(),
		codeInfoCommands(),
		processCommands(),
		memoryCommands(),
		supportCommands(),
	)
}

// Open opens a dump for the command line. Which of its runtimes is looked at is
// the session's to remember.
func Open(_ context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	options := sosgo.Options{Modules: o.Modules, SymbolServers: o.SymbolServers, SymbolCache: o.SymbolCache,
		NoMmap: o.NoMmap, Jobs: o.Jobs}
	if o.Progress != nil {
		options.Progress = func(done, total int64) { o.Progress(uint64(done), uint64(total)) }
	}
	return sosgo.Open(path, options)
}

// dumpOf is the open dump of a command that NeedsDump.
func dumpOf(c *cli.Context) *sosgo.Dump { return c.Dump().(*sosgo.Dump) }

// viewOf is the view of the runtime that the session looks at. Where there is
// none, the view's methods return why.
func viewOf(c *cli.Context) *sosgo.View {
	v, _ := dumpOf(c).View(c.Session.Runtime())
	return v
}

// runtimeOf opens the runtime that the session looks at.
func runtimeOf(c *cli.Context) (*dac.Runtime, error) { return viewOf(c).Runtime() }

// heapOf opens the GC heap of that runtime and passes its warnings on.
func heapOf(c *cli.Context) (*heap.Heap, error) {
	h, err := viewOf(c).Heap()
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings() {
		c.Warn(w)
	}
	return h, nil
}
