// Package dap serves an open dump to editors by the Debug Adapter Protocol, as a process that has stopped and cannot
// be resumed.
//
// Start with Serve, which answers the requests of one client. server.go orders the work; wire.go reads and writes
// messages. A session is the state of one client. threads.go, stack.go, scopes.go, variables.go, exception.go,
// sources.go, evaluate.go, memory.go and modules.go each hold one group of requests. They show values of package
// answer, which packages such as internal/app/stacks compute. They compute no facts.
//
// A missing value is shown as its reason (answer.Absent), never as empty or zero.
package dap

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/process"
)

// A Host opens dumps for clients.
type Host interface {
	// Open opens a dump. progress receives the bytes read and their total, or 0 if that is unknown. Canceling ctx
	// stops opening and, afterwards, downloads.
	Open(ctx context.Context, o Open, progress func(done, total uint64)) (*Opened, error)
}

// Open holds the arguments of launch and attach.
type Open struct {
	Dump          string // path; empty selects the host's dump
	Modules       []string
	SymbolServers []string
}

// Opened is an open dump.
type Opened struct {
	Path    string
	Dump    *process.Dump
	Runtime string // the host's choice; empty for the first runtime
	Console Console
	Close   func() error
}

// A Console runs command lines over the open dump.
type Console interface {
	// Run runs a command line and writes its output and errors to w.
	Run(ctx context.Context, line string, w io.Writer)
	// IsCommand reports whether a line begins with a command.
	IsCommand(line string) bool
	// Complete returns completions of the end of before, and the number of characters that they replace.
	Complete(before string) (found []string, length int)
}
