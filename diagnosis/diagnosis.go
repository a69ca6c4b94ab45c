// Package diagnosis says what a dump holds, how it is read, what is missing, and
// what would help.
package diagnosis

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/modfiles"
	"github.com/sosgo/sosgo/internal/symstore"
	"github.com/sosgo/sosgo/target"
)

// A Source is what a diagnosis looks at.
type Source struct {
	File     *dump.File
	Runtimes []*dac.Instance
	Chosen   *dac.Instance // whose heap, stacks and modules are looked at, nil for none
	Open     func(*dac.Instance) (*dac.Runtime, error)
	Heap     func() (*heap.Heap, error) // of Chosen
	// ModuleFile returns the path of a module's file on this machine.
	ModuleFile func(*target.Module) (string, error)
	// MemorySource says where the byte at an address comes from, empty if it is
	// nowhere.
	MemorySource func(target.Addr) string
}

// A Diagnosis says what a dump holds, how it is read, what is missing and what
// would help. A stranger's report of a problem is this.
type Diagnosis struct {
	File     *dump.File
	Platform target.Platform
	Process  target.Process
	Threads  int
	Modules  int
	Stored   uint64 // bytes of the process's memory that the dump holds
	Warnings []error
	Runtimes []RuntimeDiagnosis
	Parts    []PartDiagnosis // of the chosen runtime
	Files    []WantedFile    // that would help
}

// A RuntimeDiagnosis says how one runtime is read.
type RuntimeDiagnosis struct {
	Instance *dac.Instance
	Chosen   bool
	File     string         // its own file on this machine, or empty
	FileErr  error          // why there is none
	Members  map[string]int // members of the layout by source
	Sources  []string       // in the order of belief
	Probes   []dac.Probe
	Err      error // why it could not be opened
}

// A PartState says how much of a part of the process the dump holds.
type PartState uint8

// The states of a part.
const (
	PartWhole PartState = iota
	PartPartly
	PartMissing
	PartUnknown // it could not be read for another reason
)

func (s PartState) String() string {
	return [...]string{"whole", "in part", "missing", "unreadable"}[s]
}

// A Part is a part of the process that answers are made of.
type Part uint8

// The parts.
const (
	PartHeap     Part = iota // the objects' memory
	PartStacks               // the threads' stacks
	PartMetadata             // names of types and members
	PartCode                 // unwind tables of precompiled code
)

func (p Part) String() string {
	return [...]string{"GC heap", "thread stacks", "metadata", "precompiled code"}[p&3]
}

// A PartDiagnosis says what is there of one part.
type PartDiagnosis struct {
	Part   Part
	State  PartState
	Detail string
}

// A WantedFile is a file that would complete the dump.
type WantedFile struct {
	Path     string // that the dump records
	Identity string
	Key      string // under which symbol stores keep it; empty if it has none
	Why      string
}

// Of looks at everything that can keep sosgo from an answer. It opens every
// runtime of the process, and looks at the heap, the stacks and the modules of
// the chosen one; it walks no heap.
func Of(s Source) *Diagnosis {
	d := &s
	g := &Diagnosis{
		File: d.File, Platform: d.File.Platform(), Process: d.File.Process(), Threads: len(d.File.Threads()),
		Modules: len(d.File.Modules()), Warnings: d.File.Warnings(),
	}
	for r := range d.File.Regions() {
		g.Stored += r.Stored
	}
	for _, inst := range d.Runtimes {
		g.Runtimes = append(g.Runtimes, d.runtime(inst))
	}
	if d.Chosen == nil {
		return g
	}
	rt, err := d.Open(d.Chosen)
	if err != nil {
		if d.Chosen.Flavor == dac.FlavorCoreCLR {
			g.want(&d.Chosen.Module, "the runtime itself: its version and its contract descriptor")
		}
		return g
	}
	g.Parts = []PartDiagnosis{d.heap(), d.stacks(), d.metadata(rt, g), d.code(rt, g)}
	return g
}

func (d *Source) runtime(inst *dac.Instance) RuntimeDiagnosis {
	r := RuntimeDiagnosis{Instance: inst, Chosen: inst == d.Chosen}
	r.File, r.FileErr = d.ModuleFile(&inst.Module)
	rt, err := d.Open(inst)
	if err != nil {
		r.Err = err
		return r
	}
	r.Probes, r.Sources = rt.Probes(), rt.Layout().Sources()
	r.Members = map[string]int{}
	for _, m := range rt.Layout().Members() {
		r.Members[m.Source]++
	}
	return r
}

// heap counts what the dump holds of the objects' memory.
func (d *Source) heap() PartDiagnosis {
	p := PartDiagnosis{Part: PartHeap}
	h, err := d.Heap()
	if err != nil {
		return p.failed(err)
	}
	var all, stored uint64
	for _, s := range h.Segments() {
		all += s.Objects.Size()
		stored += d.storedIn(s.Objects)
	}
	p.Detail = fmt.Sprintf("%d of %d bytes in %d segments", stored, all, len(h.Segments()))
	if h.InGC() {
		p.Detail += "; the dump was taken during a collection"
	}
	return p.measured(stored, all)
}

// storedIn counts the bytes of r that the dump holds.
func (d *Source) storedIn(r target.Range) uint64 {
	n := uint64(0)
	for region := range d.File.Regions() {
		if region.Stored == 0 || region.Start >= r.End {
			continue
		}
		start, end := max(region.Start, r.Start), min(region.Start+target.Addr(region.Stored), r.End)
		if start < end {
			n += uint64(end - start)
		}
	}
	return n
}

// stacks counts the threads whose top of stack is there.
func (d *Source) stacks() PartDiagnosis {
	p := PartDiagnosis{Part: PartStacks}
	there := uint64(0)
	threads := d.File.Threads()
	for i := range threads {
		if sp, ok := threads[i].Registers.SP(); ok && target.Available(d.File, sp, 8) {
			there++
		}
	}
	p.Detail = fmt.Sprintf("%d of %d threads", there, len(threads))
	return p.measured(there, uint64(len(threads)))
}

// metadata counts the modules whose metadata can be read.
func (d *Source) metadata(rt *dac.Runtime, g *Diagnosis) PartDiagnosis {
	p := PartDiagnosis{Part: PartMetadata}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return p.failed(err)
	}
	there, fromFiles := uint64(0), 0
	for _, m := range modules {
		if _, err := m.Metadata(); err != nil {
			if at, aerr := m.Image(); aerr == nil && at.Start != 0 {
				g.wantAt(at.Start, "names of types and members")
			}
			continue
		}
		there++
		if m.MetadataSource().Path != "" {
			fromFiles++
		}
	}
	p.Detail = fmt.Sprintf("%d of %d modules, %d of them from files", there, len(modules), fromFiles)
	if err != nil {
		p.Detail += fmt.Sprintf("; the list of modules is incomplete: %v", err)
	}
	return p.measured(there, uint64(len(modules)))
}

// code counts the bytes of the precompiled images' unwind tables that
// can be read. Small dumps hold those pages that the stacks needed.
func (d *Source) code(rt *dac.Runtime, g *Diagnosis) PartDiagnosis {
	p := PartDiagnosis{Part: PartCode}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return p.failed(err)
	}
	images, all, there := 0, uint64(0), uint64(0)
	for _, m := range modules {
		img, err := m.PEImage()
		if err != nil {
			continue
		}
		dir := img.ExceptionDirectory()
		at, err := img.Address(dir.RVA)
		if dir.Size == 0 || err != nil {
			continue
		}
		images++
		all += dir.Size
		n := d.storedIn(target.Range{Start: at, End: at + target.Addr(dir.Size)})
		if n < dir.Size && d.MemorySource(at+target.Addr(dir.Size)-1) != "" {
			n = dir.Size // the file has what the dump lacks
		}
		there += n
		if n < dir.Size {
			g.wantAt(img.Base(), "unwind data of its precompiled code")
		}
	}
	p.Detail = fmt.Sprintf("%d of %d bytes of the unwind tables of %d images", there, all, images)
	return p.measured(there, all)
}

func (p PartDiagnosis) measured(there, all uint64) PartDiagnosis {
	switch {
	case there >= all:
		p.State = PartWhole
		return p
	case there == 0:
		p.State = PartMissing
	default:
		p.State = PartPartly
	}
	return p
}

func (p PartDiagnosis) failed(err error) PartDiagnosis {
	p.State = PartUnknown
	if errors.Is(err, target.ErrNotInDump) {
		p.State = PartMissing
	}
	if err != nil {
		p.Detail = err.Error()
	}
	return p
}

// wantAt asks for the file of the dump's module at a.
func (g *Diagnosis) wantAt(a target.Addr, why string) {
	if m := target.ModuleAt(g.File.Modules(), a); m != nil {
		g.want(m, why)
	}
}

func (g *Diagnosis) want(m *target.Module, why string) {
	for i := range g.Files {
		if g.Files[i].Path == m.Path {
			if g.Files[i].Why != why {
				g.Files[i].Why += "; " + why
			}
			return
		}
	}
	id := modfiles.IdentityOf(g.File, m)
	w := WantedFile{Path: m.Path, Key: symstore.FileKey(m.Path, &id), Why: why}
	switch {
	case len(id.BuildID) > 0:
		w.Identity = fmt.Sprintf("build id %x", id.BuildID)
	case id.SizeOfImage != 0:
		w.Identity = fmt.Sprintf("time stamp %08x, size %x", id.TimeDateStamp, id.SizeOfImage)
	default:
		w.Identity = "not identified by the dump"
	}
	g.Files = append(g.Files, w)
}
