//go:build !linux && !windows

package processes

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// List returns the .NET processes that run now: those with a diagnostics port.
func List() (*Listing, error) {
	out := &Listing{}
	dirs := []string{os.TempDir()}
	if dirs[0] != "/tmp" {
		dirs = append(dirs, "/tmp")
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			pid, ok := portName(e.Name())
			port := filepath.Join(dir, e.Name())
			st, err := os.Lstat(port)
			if !ok || err != nil || !alive(pid) {
				continue
			}
			p := Process{PID: pid, Inner: pid, Port: port}
			if owner, ok := st.Sys().(*syscall.Stat_t); ok {
				p.UID = owner.Uid
			}
			out.Processes = append(out.Processes, p)
		}
	}
	slices.SortFunc(out.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return out, nil
}

// portName returns the process id in the name of a diagnostics port. ok is false for other names.
func portName(name string) (pid int, ok bool) {
	var key uint64 // the start of the process
	_, err := fmt.Sscanf(name, "dotnet-diagnostic-%d-%d-socket", &pid, &key)
	return pid, err == nil && name == fmt.Sprintf("dotnet-diagnostic-%d-%d-socket", pid, key)
}

// alive reports whether a process runs.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Absent returns why a process is not among those that List finds.
func Absent(pid int) error { return notFound(pid) }
