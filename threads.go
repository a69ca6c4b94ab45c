package sosgo

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A Thread is a thread of the process: as the operating system knows it, as
// a runtime knows it, or both.
type Thread struct {
	// Index is the thread's number as SOS and debuggers count (DBG): its place
	// in the dump's list; -1 for a managed thread that no OS thread runs.
	Index   int
	OS      *target.Thread // nil if no OS thread runs it
	Managed *dac.Thread    // nil if it never ran managed code of the view's runtime

	rt *dac.Runtime // that Managed is of
}

// ID is the OS thread id, 0 for none.
func (t *Thread) ID() uint32 {
	if t.OS != nil {
		return t.OS.ID
	}
	return 0
}

// Threads returns all threads: those of the OS as the dump lists them, then the
// managed threads that no OS thread runs (dead, or not started yet). Where the
// runtime's threads can't be read it returns the others with the error.
func (v *View) Threads() ([]Thread, error) {
	native := v.dump.file.Threads()
	out := make([]Thread, len(native))
	byID := make(map[uint32]int, len(out))
	for i := range native {
		out[i] = Thread{Index: i, OS: &native[i]}
		byID[native[i].ID] = i
	}
	rt, err := v.Runtime()
	if err != nil {
		return out, err
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

// CrashThread is the thread that the dump was written for, where it says so:
// the one that raised the exception or took the signal.
func (d *Dump) CrashThread() (id uint32, ok bool) {
	e, ok := d.file.Exception()
	return e.ThreadID, ok && e.ThreadID != 0
}

// A Stack is the memory of a thread's stack that is in use.
type Stack struct {
	// Ranges are scanned in this order. The first begins at the stack pointer.
	Ranges []target.Range
	// Alternate: the thread runs on an alternate signal stack, the first of the
	// Ranges; the second is its normal stack, with the part below the
	// interrupted frame, which is not in use.
	Alternate bool
}

// Stack finds the stack of a thread in its whole extent, from the stack pointer
// to the base that the thread's environment block (Windows), the runtime, or
// the mapping that holds the stack pointer tells.
func (d *Dump) Stack(t *Thread) (Stack, error) {
	if t.OS == nil {
		return Stack{}, fmt.Errorf("no OS thread runs the thread, it has no stack: %w", target.ErrNotInDump)
	}
	sp, ok := t.OS.Registers.SP()
	if !ok {
		return Stack{}, fmt.Errorf("stack pointer of thread %#x: %w", t.OS.ID, target.ErrNotInDump)
	}
	sp &^= 7
	if base, err := d.tebStackBase(t.OS.TEB); err == nil && sp < base && uint64(base-sp) <= limits.StackScan {
		return Stack{Ranges: []target.Range{{Start: sp, End: base}}}, nil
	}
	normal := managedStack(t)
	if normal.Contains(sp) {
		return Stack{Ranges: []target.Range{{Start: sp, End: normal.End}}}, nil
	}
	here, err := d.mappingOf(t.OS, sp)
	if err != nil {
		return Stack{}, err
	}
	s := Stack{Ranges: []target.Range{{Start: sp, End: here}}}
	if normal.Size() > 0 && (here <= normal.Start || sp >= normal.End) {
		s.Ranges, s.Alternate = append(s.Ranges, normal), true
	}
	return s, nil
}

// managedStack is the stack as the runtime recorded it when the thread first
// ran managed code, empty if it did not.
func managedStack(t *Thread) target.Range {
	if t.Managed == nil || t.Managed.Stack.End <= t.Managed.Stack.Start {
		return target.Range{}
	}
	return t.Managed.Stack
}

// mappingOf is the end of the memory that holds a thread's stack pointer.
func (d *Dump) mappingOf(t *target.Thread, sp target.Addr) (target.Addr, error) {
	end := target.Addr(0)
	if t.Stack.Contains(sp) {
		end = t.Stack.End
	}
	for r := range d.file.Regions() {
		if r.Start > sp {
			break
		}
		if uint64(sp-r.Start) < r.Size {
			end = max(end, r.Start+target.Addr(r.Size))
		}
	}
	if end == 0 {
		return 0, fmt.Errorf("stack of thread %#x at %#x: %w", t.ID, uint64(sp), target.ErrNotInDump)
	}
	return end, nil
}

// The thread environment block of 64-bit Windows (winternl.h, NT_TIB and TEB):
// part of the system's ABI, the same on all versions.
const (
	tebStackBase      = 0x08   // NT_TIB.StackBase
	tebReservedForOle = 0x1758 // TEB.ReservedForOle
	oleTLSFlags       = 0x14   // SOleTlsData.dwFlags: two pointers and the apartment id come first
)

// The bits of SOleTlsData.dwFlags (OLETLSFLAGS).
const (
	oleApartmentThreaded = 0x80
	oleMultiThreaded     = 0x100
	oleInNeutral         = 0x800
)

func (d *Dump) tebStackBase(teb target.Addr) (target.Addr, error) {
	if teb == 0 {
		return 0, target.ErrNotInDump
	}
	return target.Pointer(d.file, teb+tebStackBase)
}

// An Apartment is the COM apartment that a thread has entered.
type Apartment uint8

// The apartments.
const (
	ApartmentUnknown Apartment = iota // none, or the dump can't tell
	ApartmentSTA
	ApartmentMTA
	ApartmentNTA
)

// String is the name that clrthreads prints.
func (a Apartment) String() string { return [...]string{"Ukn", "STA", "MTA", "NTA"}[a&3] }

// Apartment is the thread's COM apartment, from its environment block or, where
// the dump lacks that, from what the runtime recorded. Only Windows has
// apartments; elsewhere it is unknown without an error. A thread that did not
// initialize COM is unknown too.
func (d *Dump) Apartment(t *Thread) (Apartment, error) {
	a, err := d.tebApartment(t)
	if !errors.Is(err, target.ErrNotInDump) || t.Managed == nil {
		return a, err
	}
	switch state := t.Managed.State; {
	case state&dac.ThreadInSTA != 0:
		return ApartmentSTA, nil
	case state&dac.ThreadInMTA != 0:
		return ApartmentMTA, nil
	}
	return ApartmentUnknown, err
}

func (d *Dump) tebApartment(t *Thread) (Apartment, error) {
	teb := target.Addr(0)
	switch {
	case t.OS != nil && t.OS.TEB != 0:
		teb = t.OS.TEB
	case t.Managed != nil && t.Managed.OSID != 0:
		teb = t.Managed.TEB
	}
	if teb == 0 {
		return ApartmentUnknown, nil
	}
	ole, err := target.Pointer(d.file, teb+tebReservedForOle)
	if err != nil || ole == 0 {
		return ApartmentUnknown, err
	}
	flags, err := target.Uint32(d.file, ole+oleTLSFlags)
	switch {
	case err != nil:
		return ApartmentUnknown, err
	case flags&oleApartmentThreaded != 0:
		return ApartmentSTA, nil
	case flags&oleMultiThreaded != 0:
		return ApartmentMTA, nil
	case flags&oleInNeutral != 0:
		return ApartmentNTA, nil
	}
	return ApartmentUnknown, nil
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
