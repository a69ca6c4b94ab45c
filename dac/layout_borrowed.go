package dac

import (
	"errors"
	"strings"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// borrowed lists members that no descriptor of the process has and that come from the table of another version.
// They are used only if the process proves them. docs/contracts.md lists the members that are proved where they
// are read.
var borrowed = []struct {
	members string // members that need the proof
	prove   func(*Runtime, *layout.Part) error
}{
	{"MethodTable.InterfaceMap", (*Runtime).proveInterfaceMap},
	{"Thread.GCFrame Thread.TailCallArgBuffer Thread.DebugBlockingInfo", (*Runtime).proveThreadEnd},
}

// unproved returns the members of a table for another version that the process does not prove, with the
// reasons.
func (r *Runtime) unproved(table *layout.Part) map[string]error {
	if table.Like == "" {
		return nil
	}
	out := map[string]error{}
	for _, b := range borrowed {
		err := b.prove(r, table)
		if err == nil {
			continue
		}
		for member := range strings.FieldsSeq(b.members) {
			if table.Has(member) {
				out[member] = target.Unsupportedf("its place is that of %s, and the process does not prove it: %v", table.Like, err)
			}
		}
	}
	return out
}

// proveInterfaceMap proves MethodTable.InterfaceMap: all entries of System.String's must be interfaces.
func (r *Runtime) proveInterfaceMap(*layout.Part) error {
	mt, err := r.impl.readMethodTable(r.known.String)
	if err != nil {
		return err
	}
	list, err := r.Interfaces(mt)
	if err == nil && len(list) == 0 {
		err = target.Unsupportedf("System.String implements nothing")
	}
	for _, a := range list {
		if i, ierr := r.impl.readMethodTable(a); ierr != nil || !i.IsInterface() {
			return errors.Join(target.Corruptf("System.String implements %016x, which is no interface", uint64(a)), ierr)
		}
	}
	return err
}

// proveThreadEnd proves the members of Thread that follow the last one in a descriptor. At the start of the
// chain of GCFrames, every thread must have a GCFrame or the end of the chain (frames.h, GCFRAME_TOP).
func (r *Runtime) proveThreadEnd(table *layout.Part) error {
	at := r.off.Thread.GCFrame
	if at == layout.Absent || !table.Assumed("Thread.GCFrame") {
		return nil
	}
	l, err := r.frameLayout()
	if err != nil {
		return err
	}
	threads, err := r.impl.readThreads()
	proofs := 0
	for i := range threads.threads {
		t := &threads.threads[i]
		first, err := target.Pointer(r.mem, t.Addr+target.Addr(at))
		if err == nil && first != topFrame {
			_, _, err = r.gcFrameAt(l, t, first)
		}
		switch {
		case err == nil:
			proofs++
		case !errors.Is(err, target.ErrNotInDump):
			return target.Corruptf("Thread %016x has neither a GCFrame nor the end of their chain at %#x", uint64(t.Addr), at)
		}
	}
	if proofs == 0 && err == nil {
		err = target.Unsupportedf("the dump has no thread's")
	}
	if proofs > 0 {
		return nil
	}
	return err
}
