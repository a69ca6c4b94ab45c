// Package threads joins the threads that the operating system knows with those
// that a runtime knows, and tells of each its name, its stack, its COM apartment
// and what it waits for.
//
// Everything is immutable and safe for concurrent use. The sources are the
// dump's list of threads, the runtime's ThreadStore (package dac), and on Windows
// the thread environment block.
package threads

import (
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Thread is a thread of the process: as the operating system knows it, as
// a runtime knows it, or both.
type Thread struct {
	// Index is the thread's number as SOS and debuggers count (DBG): its place
	// in the dump's list; -1 for a managed thread that no OS thread runs.
	Index   int
	OS      *target.Thread // nil if no OS thread runs it
	Managed *dac.Thread    // nil if it never ran managed code of the runtime

	rt *dac.Runtime // that Managed is of
}

// List returns all threads: those of the OS as the dump lists them, then the
// managed threads that no OS thread runs (dead, or not started yet). Without a
// runtime they are those of the OS alone. Where the runtime's threads can't be
// read it returns the others with the error.
func List(t target.Target, rt *dac.Runtime) ([]Thread, error) {
	native := t.Threads()
	out := make([]Thread, len(native))
	byID := make(map[uint32]int, len(out))
	for i := range native {
		out[i] = Thread{Index: i, OS: &native[i]}
		byID[native[i].ID] = i
	}
	if rt == nil {
		return out, nil
	}
	managed, err := rt.Threads()
	for i := range managed {
		m := &managed[i]
		if k, ok := byID[m.OSID]; ok && m.OSID != 0 && out[k].Managed == nil {
			out[k].Managed, out[k].rt = m, rt
		} else {
			out = append(out, Thread{Index: -1, Managed: m, rt: rt})
		}
	}
	return out, err
}

// InRuntimeOrder picks from a List the threads that the runtime knows, in the
// order of its ThreadStore. Where that can't be read to its end it returns those
// before with the error.
func InRuntimeOrder(list []Thread, rt *dac.Runtime) ([]*Thread, error) {
	byAddr := make(map[target.Addr]*Thread, len(list))
	for i := range list {
		if m := list[i].Managed; m != nil {
			byAddr[m.Addr] = &list[i]
		}
	}
	stored, err := rt.Threads()
	out := make([]*Thread, 0, len(stored))
	for i := range stored {
		if t := byAddr[stored[i].Addr]; t != nil {
			out = append(out, t)
		}
	}
	return out, err
}

// ByIndex returns the thread of a List with that Index, nil for none.
func ByIndex(list []Thread, index int) *Thread {
	return find(list, func(t *Thread) bool { return t.Index == index && index >= 0 })
}

// ByID returns the thread of a List that the OS gave that id, nil for none.
func ByID(list []Thread, id uint32) *Thread {
	return find(list, func(t *Thread) bool { return t.OS != nil && t.OS.ID == id })
}

// ByManagedID returns the thread of a List that the runtime gave that id, nil
// for none.
func ByManagedID(list []Thread, id uint32) *Thread {
	return find(list, func(t *Thread) bool { return t.Managed != nil && t.Managed.ManagedID == id })
}

func find(list []Thread, is func(*Thread) bool) *Thread {
	i := slices.IndexFunc(list, func(t Thread) bool { return is(&t) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// ID is the OS thread id, 0 for none.
func (t *Thread) ID() uint32 {
	if t.OS != nil {
		return t.OS.ID
	}
	return 0
}

// Name is the name of a thread: the one that the OS has, else that of its
// managed Thread object, or empty.
func (t *Thread) Name() (string, error) {
	if t.OS != nil && t.OS.Name != "" {
		return t.OS.Name, nil
	}
	if t.Managed == nil || t.rt == nil {
		return "", nil
	}
	return t.rt.ThreadName(t.Managed)
}
