package testdump

import (
	"testing"

	"github.com/sosgo/sosgo/stackwalk"
)

// ManagedFrames returns the names of the managed frames of each thread that runs managed code,
// topmost first, by the thread's name. The first thread of the process is "main".
func (d *Dump) ManagedFrames(t testing.TB) map[string][]string {
	t.Helper()
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	w, err := d.Walker()
	must(err)
	threads, err := d.Threads()
	must(err)
	out := map[string][]string{}
	for i := range threads {
		th := &threads[i]
		if th.OS == nil || th.Managed == nil {
			continue
		}
		name, err := th.Name()
		must(err)
		if i == 0 {
			name = "main"
		}
		for f := range w.Walk(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			must(f.Err)
			if f.Kind == stackwalk.FrameManaged {
				s, err := f.Name()
				must(err)
				out[name] = append(out[name], s)
			}
		}
	}
	return out
}
