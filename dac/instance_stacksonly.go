package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A StacksOnlyError reports that the dump has no data of the runtime: minidumps of crash reporters contain the
// stacks of threads and no other memory. It wraps target.ErrNotInDump.
type StacksOnlyError struct {
	Module  string // path of the runtime's library
	Version string // of the runtime, "" if unknown
	Cut     bool   // the file of the dump is truncated: what the dump had of the runtime may lie past its end
}

// stacksOnlyError returns the error for a dump without the runtime's data.
func (i *Instance) stacksOnlyError() error {
	return &StacksOnlyError{i.Module.Path, i.Release(), i.cut()}
}

// cut reports whether the file of the dump is truncated.
func (i *Instance) cut() bool {
	t, ok := i.tgt.(interface{ Truncated() error })
	return ok && t.Truncated() != nil
}

func (e *StacksOnlyError) Error() string {
	version := e.Version
	if version == "" {
		version = "of unknown version"
	}
	if e.Cut {
		return fmt.Sprintf("the file of the dump is cut off, and the data of .NET %s (%s) lie past its end: objects, types and managed threads can't be read: %v",
			version, target.BaseName(e.Module), target.ErrNotInDump)
	}
	return fmt.Sprintf("the dump holds stacks and none of the data of .NET %s (%s): objects, types and managed threads are %v",
		version, target.BaseName(e.Module), target.ErrNotInDump)
}

// Unwrap returns target.ErrNotInDump.
func (e *StacksOnlyError) Unwrap() error { return target.ErrNotInDump }

// Advice names the commands that work without the runtime's data, and the kind of dump that contains it.
func (e *StacksOnlyError) Advice() string {
	if e.Cut {
		return "compare the size of the file with the original, copy it again; crashinfo, clrstack, threads, modules and db answer from what is left"
	}
	return "crashinfo, clrstack, threads and modules answer from the stacks; a dump of kind heap or full has the rest " +
		"(DOTNET_DbgEnableMiniDump=1, dotnet-dump collect)"
}

// findStacksOnly returns the runtimes known only by their names and identities: neither their headers nor their
// data are in the dump. Headless reports modules with some data.
func findStacksOnly(t target.Target, mem target.Memory, files ModuleFiles) []*Instance {
	var out []*Instance
	for _, m := range t.Modules() {
		if !namedRuntime(m.Path) || target.Available(mem, m.Base, 2) {
			continue
		}
		inst := &Instance{Index: len(out), Module: m, Image: new(image.Image), Identity: image.IdentityOf(mem, &m), tgt: t, mem: mem, files: files, headless: true}
		if inst.stacksOnly() {
			out = append(out, inst)
		}
	}
	return out
}

// fewBytes is less than a dump with data of a runtime contains of its library. Crash reporters keep some
// hundred bytes around the instructions and pointers of threads.
const fewBytes = 4096

// stacksOnly reports whether the dump lacks all data of the runtime's library.
func (i *Instance) stacksOnly() bool {
	stored, end := uint64(0), i.Module.Base+target.Addr(i.Module.Size)
	for r := range i.tgt.Regions() {
		if r.Start >= end {
			break
		}
		from, to := max(r.Start, i.Module.Base), min(r.Start+target.Addr(r.Stored), end)
		if from < to {
			stored += uint64(to - from)
		}
	}
	return stored < fewBytes
}

// KnownLayout names the catalogue's layout for the runtime's build. If the catalogue only has a newer build of
// the same version, it returns that layout's name and candidate=true: only the version speaks for it. It
// returns "" for a version that is not in the catalogue.
func (i *Instance) KnownLayout() (name string, candidate bool) {
	if i.Flavor == FlavorNativeAOT {
		return "", false
	}
	if b, err := layout.KnownBuild(i.Identity); err == nil && b != nil {
		return b.Source(), false
	}
	for _, c := range i.candidates() {
		if c.Lender == "" && i.ofMajor(c.Major) && c.Load(true) == nil {
			return c.Parts[0].Source, true
		}
	}
	return "", false
}
