package sosgo

import (
	"errors"
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/modfiles"
	"github.com/sosgo/sosgo/internal/symstore"
	"github.com/sosgo/sosgo/target"
)

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
	Parts    []PartDiagnosis // of the View's runtime
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

// A PartDiagnosis says what is there of one part, and which commands suffer.
type PartDiagnosis struct {
	Name   string
	State  PartState
	Detail string
	Costs  []string // commands that can't answer, or only in part
}

// A WantedFile is a file that would complete the dump.
type WantedFile struct {
	Path     string // that the dump records
	Identity string
	Key      string // under which symbol stores keep it; empty if it has none
	Why      string
}

// Diagnose looks at everything that can keep sosgo from an answer. It opens
// every runtime of the process, and looks at the heap, the stacks and the modules
// of the View's; it walks no heap.
func (v *View) Diagnose() *Diagnosis {
	d := v.dump
	g := &Diagnosis{
		File: d.file, Platform: d.file.Platform(), Process: d.file.Process(), Threads: len(d.file.Threads()),
		Modules: len(d.file.Modules()), Warnings: d.file.Warnings(),
	}
	for r := range d.file.Regions() {
		g.Stored += r.Stored
	}
	for _, inst := range d.Runtimes() {
		g.Runtimes = append(g.Runtimes, d.diagnoseRuntime(inst, inst == v.inst))
	}
	rt, err := v.Runtime()
	if err != nil {
		if v.inst != nil && v.inst.Flavor == dac.FlavorCoreCLR {
			g.want(d, &v.inst.Module, "the runtime itself: its version and its contract descriptor")
		}
		return g
	}
	g.Parts = append(g.Parts, v.diagnoseHeap(), d.diagnoseStacks())
	g.Parts = append(g.Parts, d.diagnoseMetadata(rt, g), d.diagnoseCode(rt, g))
	return g
}

func (d *Dump) diagnoseRuntime(inst *dac.Instance, chosen bool) RuntimeDiagnosis {
	r := RuntimeDiagnosis{Instance: inst, Chosen: chosen}
	if img, err := d.files.File(&inst.Module, inst.Image); err == nil {
		r.File = img.Path()
	} else {
		r.FileErr = err
	}
	rt, err := d.viewOf(inst).Runtime()
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

// The commands that a missing part costs.
var (
	heapCommands     = []string{"dumpheap", "dumpobj", "dumparray", "dumpstring", "gcwhere", "eeheap -gc", "dumpgen", "gcheapstat"}
	stackCommands    = []string{"clrstack", "dumpstackobjects", "parallelstacks"}
	metadataCommands = []string{"name2ee", "dumpmt", "dumpobj", "dumpheap", "clrstack", "dumpil"}
	codeCommands     = []string{"clrstack", "ip2md", "parallelstacks", "printexception"}
)

// diagnoseHeap counts what the dump holds of the objects' memory.
func (v *View) diagnoseHeap() PartDiagnosis {
	p := PartDiagnosis{Name: "GC heap"}
	h, err := v.Heap()
	if err != nil {
		return p.failed(err, heapCommands)
	}
	var all, stored uint64
	for _, s := range h.Segments() {
		all += s.Objects.Size()
		stored += v.dump.storedIn(s.Objects)
	}
	p.Detail = fmt.Sprintf("%d of %d bytes in %d segments", stored, all, len(h.Segments()))
	if h.InGC() {
		p.Detail += "; the dump was taken during a collection"
	}
	return p.measured(stored, all, heapCommands)
}

// storedIn counts the bytes of r that the dump holds.
func (d *Dump) storedIn(r target.Range) uint64 {
	n := uint64(0)
	for region := range d.file.Regions() {
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

// diagnoseStacks counts the threads whose top of stack is there.
func (d *Dump) diagnoseStacks() PartDiagnosis {
	p := PartDiagnosis{Name: "thread stacks"}
	there := uint64(0)
	threads := d.file.Threads()
	for i := range threads {
		if sp, ok := threads[i].Registers.SP(); ok && target.Available(d.file, sp, 8) {
			there++
		}
	}
	p.Detail = fmt.Sprintf("%d of %d threads", there, len(threads))
	return p.measured(there, uint64(len(threads)), stackCommands)
}

// diagnoseMetadata counts the modules whose metadata can be read.
func (d *Dump) diagnoseMetadata(rt *dac.Runtime, g *Diagnosis) PartDiagnosis {
	p := PartDiagnosis{Name: "metadata"}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return p.failed(err, metadataCommands)
	}
	there, fromFiles := uint64(0), 0
	for _, m := range modules {
		if _, err := m.Metadata(); err != nil {
			if at, aerr := m.Image(); aerr == nil && at.Start != 0 {
				g.wantAt(d, at.Start, "names of types and members")
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
	return p.measured(there, uint64(len(modules)), metadataCommands)
}

// diagnoseCode counts the bytes of the precompiled images' unwind tables that
// can be read. Small dumps hold those pages that the stacks needed.
func (d *Dump) diagnoseCode(rt *dac.Runtime, g *Diagnosis) PartDiagnosis {
	p := PartDiagnosis{Name: "precompiled code"}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return p.failed(err, codeCommands)
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
			g.wantAt(d, img.Base(), "unwind data of its precompiled code")
		}
	}
	p.Detail = fmt.Sprintf("%d of %d bytes of the unwind tables of %d images", there, all, images)
	return p.measured(there, all, codeCommands)
}

func (p PartDiagnosis) measured(there, all uint64, costs []string) PartDiagnosis {
	switch {
	case there >= all:
		p.State = PartWhole
		return p
	case there == 0:
		p.State = PartMissing
	default:
		p.State = PartPartly
	}
	p.Costs = costs
	return p
}

func (p PartDiagnosis) failed(err error, costs []string) PartDiagnosis {
	p.State, p.Costs = PartUnknown, costs
	if errors.Is(err, target.ErrNotInDump) {
		p.State = PartMissing
	}
	if err != nil {
		p.Detail = err.Error()
	}
	return p
}

// wantAt asks for the file of the dump's module at a.
func (g *Diagnosis) wantAt(d *Dump, a target.Addr, why string) {
	mods := d.file.Modules()
	i := sort.Search(len(mods), func(i int) bool { return mods[i].Base > a }) - 1
	if i >= 0 && mods[i].Contains(a) {
		g.want(d, &mods[i], why)
	}
}

func (g *Diagnosis) want(d *Dump, m *target.Module, why string) {
	for i := range g.Files {
		if g.Files[i].Path == m.Path {
			if g.Files[i].Why != why {
				g.Files[i].Why += "; " + why
			}
			return
		}
	}
	id := modfiles.IdentityOf(d.file, m)
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
