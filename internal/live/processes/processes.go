// Package processes finds the .NET processes that run on this machine, and in the containers that are visible from it.
// On Linux it reads /proc; on other systems it lists the diagnostics ports. Start with List.
package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/live/diagport"
)

// A Process is a .NET process. What the system does not report is zero, and nil for pointers.
type Process struct {
	PID     int
	Inner   int    // its process id in its own namespace, which its runtime knows
	UID     uint32 // its effective user
	Groups  []uint32
	Name    string // of the program
	Command []string
	Started time.Time
	// Resident and Swapped are bytes of its memory.
	Resident, Swapped *uint64
	Container         string // the container's id
	Port              string // the socket or pipe of its diagnostics port, as this process reaches it; empty if there is none
	Why               error  // why there is no port that can be asked, if it is known

	system *System
	start  uint64 // as the system counts, to recognize another process with the same id
}

// A Refusal is the reason why a process cannot be asked, and what the user can do.
type Refusal struct {
	Text, Next string
	Err        error // the cause, which follows the text; may be nil
	Kind       error // a kind of package target, for the exit code; may be nil
}

func (r *Refusal) Error() string {
	if r.Err != nil {
		return r.Text + ": " + r.Err.Error()
	}
	return r.Text
}

func (r *Refusal) Unwrap() []error {
	return slices.DeleteFunc([]error{r.Err, r.Kind}, func(err error) bool { return err == nil })
}

// Advice returns the next step.
func (r *Refusal) Advice() string { return r.Next }

// A Listing is the result of List.
type Listing struct {
	Processes []Process // by process id
	// Hidden counts the processes that could not be examined, because they belong to other users.
	Hidden int
}

// Client returns a client of the process's diagnostics port.
func (p *Process) Client() *diagport.Client {
	return &diagport.Client{Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
		conn, err := diagport.Dial(ctx, p.Port, p.PID, p.UID)
		if err != nil {
			return nil, err
		}
		if !p.Alive() { // its id may belong to another process by now
			return nil, errors.Join(p.gone(), conn.Close())
		}
		return conn, nil
	}}
}

// gone returns the error of a process that has ended.
func (p *Process) gone() error {
	return &Refusal{Text: fmt.Sprintf("process %d has ended", p.PID), Next: "sosgo ps lists the processes that run"}
}

// Ask asks the process what it is, and checks that it answers for itself. A runtime older than .NET 5 answers with its
// process id alone.
func (p *Process) Ask(ctx context.Context) (*diagport.Info, error) {
	switch {
	case p.Why != nil:
		return nil, p.Why
	case p.Port == "":
		return nil, &Refusal{Text: "it has no diagnostics port"}
	}
	info, err := p.Client().Info(ctx)
	var reported *diagport.RuntimeError
	if errors.As(err, &reported) && reported.Code == diagport.CodeUnknownCommand {
		return &diagport.Info{PID: uint64(p.Inner)}, nil // .NET Core 3.1 writes dumps, and can't say what it is
	}
	if err != nil {
		return nil, err
	}
	if info.PID != uint64(p.Inner) {
		return nil, &Refusal{Text: fmt.Sprintf("its diagnostics port answers for process %d instead of %d", info.PID, p.Inner),
			Next: "sosgo ps lists the processes again: this one may have ended"}
	}
	return info, nil
}

// nameOf returns the name of a program from its command line: of an application of the host "dotnet" the assembly.
func nameOf(command []string, fallback string) string {
	if len(command) == 0 || command[0] == "" {
		return fallback
	}
	name := baseName(command[0])
	if name == "dotnet" {
		i := slices.IndexFunc(command[1:], func(w string) bool { return strings.HasSuffix(strings.ToLower(w), ".dll") })
		if i >= 0 {
			return strings.TrimSuffix(baseName(command[1+i]), filepath.Ext(command[1+i]))
		}
	}
	return strings.TrimSuffix(name, ".exe")
}

// baseName returns the last part of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// notFound returns the error for an id that is not the id of a .NET process.
func notFound(pid int) error {
	return &Refusal{Text: fmt.Sprintf("no .NET process with the id %d was found", pid), Next: "sosgo ps lists them"}
}
