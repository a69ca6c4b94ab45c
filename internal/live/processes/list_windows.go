package processes

import (
	"cmp"
	"fmt"
	"os"
	"slices"
)

// pipes is the folder of all named pipes.
const pipes = `\\.\pipe\`

// List returns the .NET processes that run now: those with a diagnostics port.
func List() (*Listing, error) {
	entries, err := os.ReadDir(pipes)
	if err != nil {
		return nil, err
	}
	out := &Listing{}
	for _, e := range entries {
		var pid int
		if n, err := fmt.Sscanf(e.Name(), "dotnet-diagnostic-%d", &pid); err == nil && n == 1 && e.Name() == fmt.Sprintf("dotnet-diagnostic-%d", pid) {
			out.Processes = append(out.Processes, Process{PID: pid, Inner: pid, Port: pipes + e.Name()})
		}
	}
	slices.SortFunc(out.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return out, nil
}

// alive reports whether a process runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // it was only looked up
	return true
}

// Absent returns why a process is not among those that List finds.
func Absent(pid int) error { return notFound(pid) }
