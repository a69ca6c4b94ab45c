package sosgo

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Diagnosis says what was found in a dump and what is missing: what a stranger
// needs to know to tell why a command has no answer.
type Diagnosis struct {
	Reserved, Stored uint64 // bytes of the address space, and those that the dump holds
	Runtimes         []RuntimeDiagnosis
	Areas            []Area        // of the chosen runtime
	Modules          []ModuleState // managed ones, of the chosen runtime
	Warnings         []error
}

// A RuntimeDiagnosis says whether and how one runtime could be opened.
type RuntimeDiagnosis struct {
	Instance *dac.Instance
	Chosen   bool
	Err      error        // why it can't be opened
	Runtime  *dac.Runtime // nil if Err is not
}

// An Area is a part of the process that commands need.
type Area struct {
	Name  string
	Held  int // of Total
	Total int // 0 where even the list is missing
	Unit  string
	Err   error  // an example of what is missing, nil if nothing is
	Needs string // the commands that need it
}

// Complete reports whether nothing of the area is missing.
func (a *Area) Complete() bool { return a.Err == nil && a.Held == a.Total }

// A ModuleState says where the metadata of a managed module comes from.
type ModuleState struct {
	Module   *dac.Module
	Name     string // path, or what else names it
	Identity string // time stamp and size of the image, by which its file is known; empty if unknown
	Source   string // "dump", the path of a file, or empty
	Err      error  // why there is none
}

// Diagnose looks at everything once. It reads little and fails at nothing.
func (d *Dump) Diagnose() Diagnosis {
	g := Diagnosis{Warnings: d.file.Warnings()}
	for r := range d.file.Regions() {
		g.Reserved += r.Size
		g.Stored += r.Stored
	}
	chosen, _ := d.ChosenRuntime() // none: the list below is empty
	for _, inst := range d.Runtimes() {
		r := RuntimeDiagnosis{Instance: inst, Chosen: inst == chosen}
		if r.Chosen {
			r.Runtime, r.Err = d.Runtime()
		} else {
			r.Runtime, r.Err = inst.Open()
		}
		g.Runtimes = append(g.Runtimes, r)
		if r.Chosen && r.Runtime != nil {
			g.Modules = d.moduleStates(r.Runtime)
			g.Areas = append(g.Areas, d.heapArea(), typeArea(r.Runtime), metadataArea(g.Modules))
		}
	}
	g.Areas = append(g.Areas, d.stackArea())
	return g
}

// heapArea counts the segments of the GC heap whose objects are in the dump.
func (d *Dump) heapArea() Area {
	a := Area{Name: "GC heap", Unit: "segments", Needs: "dumpobj, dumpheap, gcroot"}
	h, err := d.Heap()
	if err != nil {
		a.Err = err
		return a
	}
	for i := range h.Segments() {
		s := &h.Segments()[i]
		a.Total++
		if missing, ok := firstMissing(d.file, s.Objects); ok {
			a.Err = &target.MemoryError{Addr: missing, Size: int(min(uint64(s.Objects.End-missing), 1<<30)), Err: target.ErrNotInDump}
			continue
		}
		a.Held++
	}
	if a.Total == 0 {
		a.Err = fmt.Errorf("list of segments: %w", errors.Join(append(h.Warnings(), target.ErrNotInDump)...))
	}
	return a
}

// firstMissing is the first address of r that m does not hold, and whether
// there is one.
func firstMissing(m target.Memory, r target.Range) (target.Addr, bool) {
	for a := r.Start; a < r.End; {
		n := len(m.Span(a))
		if n == 0 {
			return a, true
		}
		a += target.Addr(n)
	}
	return 0, false
}

// typeArea counts the loaded types of CoreLib that can be read.
func typeArea(rt *dac.Runtime) Area {
	a := Area{Name: "types", Unit: "MethodTables of System.Private.CoreLib", Needs: "dumpmt, dumpobj, dumpheap"}
	lib, err := rt.CoreLib()
	if err != nil {
		a.Err = err
		return a
	}
	for e, err := range lib.Entries(dac.MapTypeDef) {
		a.Total++
		if err == nil {
			_, err = rt.MethodTable(e.Value)
		}
		if err == nil {
			a.Held++
		} else if a.Err == nil {
			a.Err = err
		}
	}
	return a
}

func (d *Dump) moduleStates(rt *dac.Runtime) []ModuleState {
	mods, _ := rt.KnownModules() // what is missing of the list shows in the other areas
	out := make([]ModuleState, 0, len(mods))
	for _, m := range mods {
		s := ModuleState{Module: m}
		s.Name, _ = m.Path()
		if s.Name == "" {
			s.Name, _ = m.SimpleName()
		}
		if n, ok := d.NativeModule(m); ok && n.SizeOfImage != 0 {
			s.Identity = fmt.Sprintf("%08x%x", n.TimeDateStamp, n.SizeOfImage)
		}
		if _, s.Err = m.Metadata(); s.Err == nil {
			if s.Source = m.MetadataSource().Path; s.Source == "" {
				s.Source = "dump"
			}
		}
		out = append(out, s)
	}
	return out
}

func metadataArea(mods []ModuleState) Area {
	a := Area{Name: "metadata", Unit: "modules", Needs: "names of types, methods and fields", Total: len(mods)}
	for _, m := range mods {
		switch {
		case m.Err == nil:
			a.Held++
		case a.Err == nil:
			a.Err = m.Err
		}
	}
	if len(mods) == 0 {
		a.Err = target.ErrNotInDump
	}
	return a
}

// stackArea counts the threads whose stack is in the dump where they stood.
func (d *Dump) stackArea() Area {
	a := Area{Name: "thread stacks", Unit: "threads", Needs: "clrstack, dso"}
	for _, t := range d.file.Threads() {
		a.Total++
		sp, ok := t.Registers.SP()
		if !ok {
			continue
		}
		if _, err := target.Pointer(d.file, sp); err == nil {
			a.Held++
		} else if a.Err == nil {
			a.Err = err
		}
	}
	return a
}
