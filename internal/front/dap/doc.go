// Package dap serves an open dump to editors by the Debug Adapter Protocol, as a process that has stopped for good.
//
// Serve reads requests of one client and answers them; server.go has the order of work, wire.go the frames on the wire. A session is what one
// client looks at: threads.go, stack.go, scopes.go, variables.go, exception.go, sources.go, evaluate.go, memory.go and modules.go have one
// group of requests each. They show values of package answer, which packages such as app/stacks compute, and compute no facts.
//
// What can't be read stands in its place with the reason (answer.Absent), and is never empty or zero.
package dap

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/process"
)

// A Host opens dumps for clients.
type Host interface {
	// Open opens a dump. Progress receives bytes and their total, 0 if it is not known. The end of ctx ends opening, and downloads later.
	Open(ctx context.Context, o Open, progress func(done, total uint64)) (*Opened, error)
}

// Open is what a client asks for when it launches or attaches.
type Open struct {
	Dump          string // path; empty for the one that the host has
	Modules       []string
	SymbolServers []string
}

// Opened is an open dump.
type Opened struct {
	Path    string
	Dump    *process.Dump
	Runtime string // that the host chose; empty for the first one
	Console Console
	Close   func() error
}

// A Console runs command lines over the open dump.
type Console interface {
	// Run runs a command line and writes what it prints, errors too.
	Run(ctx context.Context, line string, w io.Writer)
	// IsCommand reports whether a line begins with a command.
	IsCommand(line string) bool
	// Complete returns words that may stand in place of the last characters of a line, and how many these are.
	Complete(before string) (found []string, length int)
}
