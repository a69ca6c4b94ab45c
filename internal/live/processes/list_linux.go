package processes

import (
	"os"
	"slices"
)

// List returns the .NET processes that run now.
func List() (*Listing, error) { return here().List() }

// here returns this machine.
func here() *System {
	s := &System{Proc: "/proc", Temp: []string{"/tmp"}, User: uint32(os.Geteuid()), Root: os.Geteuid() == 0}
	if dir := os.TempDir(); !slices.Contains(s.Temp, dir) {
		s.Temp = append(s.Temp, dir)
	}
	return s
}

// alive is for systems without /proc.
func alive(int) bool { return true }

// Absent returns why a process is not among those that List finds.
func Absent(pid int) error { return here().absent(pid) }
