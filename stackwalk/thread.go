package stackwalk

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Thread is a thread of the process, known to the operating system, to a runtime, or to both.
type Thread struct {
	// Index is the thread's number in SOS and debuggers (DBG): its place in the dump's list, or -1 for a managed
	// thread without an OS thread.
	Index   int
	OS      *target.Thread // nil for a managed thread without an OS thread
	Managed *dac.Thread    // nil if the thread never ran managed code of the runtime

	rt      *dac.Runtime // owner of Managed
	regions *regionIndex // of the process, shared by its threads; nil for a Thread that Threads did not make
}

// Threads returns all threads: the OS threads in the order of the dump, then the managed threads without an OS thread
// (dead, or not started yet). If rt is nil, it returns the OS threads. If the runtime's threads are unreadable, it
// returns the other threads and the error.
func Threads(t target.Target, rt *dac.Runtime) ([]Thread, error) {
	native := t.Threads()
	out := make([]Thread, len(native))
	byID := make(map[uint32]int, len(out))
	regions := newRegionIndex(t)
	for i := range native {
		out[i] = Thread{Index: i, OS: &native[i], regions: regions}
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

// InRuntimeOrder returns the managed threads of a List in the order of rt's ThreadStore. If part of the store is
// unreadable, it returns the threads before that part and the error.
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

// ThreadByIndex returns the thread of a List with that Index, or nil.
func ThreadByIndex(list []Thread, index int) *Thread {
	return findThread(list, func(t *Thread) bool { return t.Index == index && index >= 0 })
}

// ThreadByID returns the thread of a List with that OS id, or nil.
func ThreadByID(list []Thread, id uint32) *Thread {
	return findThread(list, func(t *Thread) bool { return t.OS != nil && t.OS.ID == id })
}

// ThreadByManagedID returns the thread of a List with that managed id, or nil.
func ThreadByManagedID(list []Thread, id uint32) *Thread {
	return findThread(list, func(t *Thread) bool { return t.Managed != nil && t.Managed.ManagedID == id })
}

func findThread(list []Thread, is func(*Thread) bool) *Thread {
	i := slices.IndexFunc(list, func(t Thread) bool { return is(&t) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// ID returns the OS thread id, or 0.
func (t *Thread) ID() uint32 {
	if t == nil {
		return 0
	}
	if t.OS != nil {
		return t.OS.ID
	}
	return 0
}

// Name returns the OS's name of a thread, or else the name in its managed Thread object. It is empty if neither is set.
func (t *Thread) Name() (string, error) {
	if t == nil {
		return "", nil
	}
	if t.OS != nil && t.OS.Name != "" {
		return t.OS.Name, nil
	}
	if t.Managed == nil || t.rt == nil {
		return "", nil
	}
	return t.rt.ThreadName(t.Managed)
}

// RunningThreads returns the threads of a List that rt knows and an OS thread runs, in the order of InRuntimeOrder. If rt is
// nil, it returns all that an OS thread runs.
func RunningThreads(list []Thread, rt *dac.Runtime) ([]*Thread, error) {
	if rt == nil {
		return onOSThreads(list), nil
	}
	out, err := InRuntimeOrder(list, rt)
	return slices.DeleteFunc(out, func(t *Thread) bool { return t.OS == nil }), err
}

// onOSThreads returns the threads of the list that an OS thread runs.
func onOSThreads(list []Thread) []*Thread {
	var out []*Thread
	for i := range list {
		if list[i].OS != nil {
			out = append(out, &list[i])
		}
	}
	return out
}

// Describe identifies t. It omits an unreadable name and notes the error in g.
func (t *Thread) Describe(g *answer.Gaps) answer.Thread {
	if t == nil {
		return answer.Thread{}
	}
	name, err := t.Name()
	g.Note(err)
	d := answer.Thread{OSID: t.ID(), Name: name}
	if t.Index >= 0 {
		d.Index = &t.Index
	}
	if t.Managed != nil {
		d.ManagedID, d.Thread, d.OSID, d.Finalizer = t.Managed.ManagedID, t.Managed.Addr, t.Managed.OSID, t.Managed.Finalizer
	}
	return d
}
