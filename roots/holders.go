package roots

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// Holder says which structure of the runtime holds a handle: "the managed object of
// thread 3", "the exception that thread 3 is handling". It is empty for a handle
// that no structure which is looked at names: those of programs are such.
func (r *Reader) Holder(handle target.Addr) string {
	m, _ := r.names.holders.Get(func() (map[target.Addr]string, error) { return r.readHolders(), nil })
	return m[handle]
}

// readHolders collects the handles that the runtime's structures name. What can't
// be read names none.
func (r *Reader) readHolders() map[target.Addr]string {
	out := map[target.Addr]string{}
	add := func(handle target.Addr, format string, args ...any) {
		if handle != 0 && out[handle] == "" {
			out[handle] = fmt.Sprintf(format, args...)
		}
	}
	list, _ := r.rt.Threads()
	for i := range list {
		t := &list[i]
		add(t.ExposedHandle, "the managed object of thread %d", t.ManagedID)
	}
	return out
}
