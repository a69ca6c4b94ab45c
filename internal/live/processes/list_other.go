//go:build !linux && !windows

package processes

import (
	"cmp"
	"errors"
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
		names, err := hostView().names(dir, 0)
		if err != nil {
			continue
		}
		for _, name := range names {
			pid, _, ok := portName(name)
			port := filepath.Join(dir, name)
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

// alive reports whether a process runs.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Absent returns why a process is not among those that List finds.
func Absent(pid int) error { return notFound(pid) }
