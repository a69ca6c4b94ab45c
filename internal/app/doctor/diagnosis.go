// Package doctor describes what a dump holds, how it is read, which parts are missing, and which files would help. It
// does not judge the process; see package triage. Start with Of.
package doctor

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/files/symstore"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options select the content of a diagnosis.
type Options struct {
	Members bool `opt:"members" help:"list every member of the layout with its source"`
}

// Of checks everything that can prevent an answer. It opens every runtime of the process, and checks the heap, stacks
// and modules of the selected one. It does not walk the heap.
func Of(p *process.Process, o Options) *answer.Diagnosis {
	chosen, _ := p.Instance()
	d := p.Dump()
	s := &source{Process: p, file: d.File(), chosen: chosen, members: o.Members}
	platform, info := s.file.Platform(), s.file.Process()
	g := &builder{source: s, Diagnosis: &answer.Diagnosis{
		File: s.file.Path, Format: s.file.Format, Packed: s.file.Compressed, Size: s.file.Size,
		OS: platform.OS.String(), OSText: platform.OSVersion, Arch: platform.Arch.String(), PID: info.ID, Command: info.Command,
		Threads: len(s.file.Threads()), Modules: len(s.file.Modules()),
	}}
	g.container(&platform, &info)
	for _, w := range s.file.Warnings() {
		g.Warnings = append(g.Warnings, w.Error())
	}
	for r := range s.file.Regions() {
		g.Stored += r.Stored
	}
	g.LeftOut = s.file.LeftOutBytes()
	g.InFiles = s.file.InFileBytes()
	g.Stored -= min(g.LeftOut+g.InFiles, g.Stored)
	for _, inst := range d.Runtimes() {
		g.Diagnosis.Runtimes = append(g.Diagnosis.Runtimes, s.runtime(inst))
	}
	if crashreport.Of(s.file.Target) != nil {
		g.NoMemory = new(crashreport.NoMemoryError).Error()
	} else if len(d.Runtimes()) == 0 {
		g.Foreign = dac.ForeignRuntime(s.file)
		g.headless()
	}
	if s.chosen != nil {
		g.parts()
	} else if s.members {
		g.Fail(target.Unsupportedf("no .NET runtime is chosen whose layout could be listed"))
	}
	return g.Diagnosis
}

// container adds the container's facts about process and machine.
func (g *builder) container(platform *target.Platform, process *target.Process) {
	d := g.Diagnosis
	d.Distro, d.CPUs, d.CPU, d.Comment = platform.Distribution, platform.CPUs, platform.CPU, process.Comment
	if x, ok := g.file.Exception(); ok && x.Signal != nil && process.Comment == "signal "+x.Words {
		d.Comment = "" // crashinfo has it
	}
	if t := process.DumpTime; !t.IsZero() {
		d.Taken = &t
	}
	if t := process.Created; !t.IsZero() {
		d.Started = &t
	}
	if t := process.Times; t != nil {
		user, kernel := answer.Seconds(t.User.Seconds()), answer.Seconds(t.Kernel.Seconds())
		d.User, d.Kernel = &user, &kernel
	}
	for _, c := range process.Counters {
		d.Counters = append(d.Counters, answer.MemoryCounter(c))
	}
	for _, a := range process.Annotations {
		d.Notes = append(d.Notes, answer.CrashAnnotation(a))
	}
	for _, c := range g.file.Contents() {
		d.Contents = append(d.Contents, answer.DumpContent(c))
	}
}

// A source is the input of a diagnosis.
type source struct {
	*process.Process
	file    *dump.File
	chosen  *dac.Instance // the runtime with the checked heap, stacks and modules, or nil
	members bool          // check every member of the chosen runtime's layout
}

// A builder makes a diagnosis of a source.
type builder struct {
	*source
	*answer.Diagnosis
}

// parts diagnoses the parts of the chosen runtime.
func (g *builder) parts() {
	rt, err := g.Runtime()
	var alone *dac.StacksOnlyError
	if errors.As(err, &alone) {
		g.stacksOnly(alone.Cut)
	} else if err != nil {
		if g.chosen.Flavor == dac.FlavorCoreCLR {
			g.want(&g.chosen.Module, words.GivesContract.Of())
		}
	}
	if err != nil {
		if g.members {
			g.Fail(err)
		}
		return
	}
	g.Parts = []answer.PartDiagnosis{g.heap(), g.stacks()}
	if rt.Check(dac.FeatureModules) == nil {
		g.Parts = append(g.Parts, g.metadata(rt), g.code(rt))
	}
	if g.members {
		g.Diagnosis.Members = rt.DescribeLayout()
	}
}

// stacksOnly diagnoses a dump with only stacks. Module files turn guessed frames into frames by unwind data.
func (g *builder) stacksOnly(cut bool) {
	stacks := g.stacks()
	heap := answer.PartDiagnosis{Part: answer.PartHeap, State: answer.PartMissing, Advice: g.larger(words.ObjectsNoFile.Of())}
	if cut {
		heap.State = answer.PartUnknown
		heap.Measure(words.RuntimeCutOff.Of())
	} else {
		heap.Measure(words.StacksAlone.Of())
	}
	g.Parts = []answer.PartDiagnosis{heap, stacks}
	var lacking []*target.Module
	found := map[string]bool{} // by path: assemblies are mapped twice, with one file
	modules := g.file.Modules()
	for i := range modules {
		m := &modules[i]
		if f, err := g.Dump().ModuleFile(m); err == nil {
			g.Used, found[m.Path] = append(g.Used, f), true
		} else if target.BaseName(m.Path) == "System.Private.CoreLib.dll" || m.Base == g.chosen.Module.Base {
			lacking = append(lacking, m)
		}
	}
	for _, m := range lacking {
		if !found[m.Path] {
			g.want(m, words.GivesFrames.Of())
		}
	}
}

func (d *source) runtime(inst *dac.Instance) answer.RuntimeDiagnosis {
	r := answer.RuntimeDiagnosis{
		Index: inst.Index, Chosen: inst == d.chosen, Kind: inst.Flavor.String(), Version: inst.Release(),
		Path: inst.Module.Path, Base: inst.Module.Base, Identity: inst.Identity.String(),
	}
	var file answer.ModuleFile
	file, r.FileErr = d.Dump().ModuleFile(&inst.Module)
	r.File, r.Proof = file.File, file.Proof
	if err := inst.DescriptorError(); err != nil {
		r.DescriptorError = err.Error()
	}
	rt, err := d.Dump().ProcessOf(inst).Runtime()
	if errors.As(err, new(*dac.StacksOnlyError)) {
		r.Known, r.Candidate = inst.KnownLayout()
	}
	if err != nil {
		r.Error = err.Error()
		return r
	}
	members := map[string]int{}
	for _, m := range rt.DescribeLayout() {
		members[m.Source]++
	}
	for _, s := range rt.LayoutSources() {
		r.Sources = append(r.Sources, answer.LayoutSource{Source: s, Members: members[s]})
	}
	r.Contracts = rt.Contracts()
	r.Foreign, r.Globals = rt.ForeignLayout(), rt.DescribeShifts()
	for _, p := range rt.Probes() {
		r.Probes = append(r.Probes, answer.Probe{Name: p.Name, Result: p.Result.String(), Detail: p.Detail})
	}
	return r
}

// heap counts the dumped bytes of the heap's objects.
func (d *source) heap() answer.PartDiagnosis {
	p := answer.PartDiagnosis{Part: answer.PartHeap}
	h, err := d.Heap()
	if err != nil {
		if p = failed(p, err); p.State == answer.PartMissing {
			p.Advice = d.larger(words.ObjectsNoFile.Of())
		}
		return p
	}
	var all, stored uint64
	for _, s := range h.Segments() {
		all += s.Objects.Size()
		stored += d.storedIn(s.Objects)
	}
	p.Measure(words.BytesOfHeap.Of(words.ExactBytes(stored), words.ExactBytes(all), words.N(len(h.Segments()))))
	lost := len(h.Lost())
	if lost > 0 {
		p.Measure(words.MoreUnreadable.Of(words.N(lost)))
	}
	if h.InGC() {
		p.Measure(words.TakenInGC.Of())
	}
	p = measured(p, stored, all+uint64(lost)) // the size of a lost segment is unknown
	if p.State != answer.PartWhole {
		p.Advice = d.larger(words.ObjectsNoFile.Of())
	}
	return p
}

// larger returns advice to take a dump of kind heap or full. It is empty if that dump would have no more of what the
// process wrote, or if the whole file would.
func (d *source) larger(advice answer.Statement) string {
	if d.file.Truncated() != nil || target.StoresWritable(d.file) {
		return ""
	}
	return advice.Text
}

// storedIn counts the bytes of r that the dump holds.
func (d *source) storedIn(r target.Range) uint64 {
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

// stacks counts the threads with the top of their stacks in the dump.
func (d *source) stacks() answer.PartDiagnosis {
	p := answer.PartDiagnosis{Part: answer.PartStacks}
	there := uint64(0)
	threads := d.file.Threads()
	for i := range threads {
		if sp, ok := threads[i].Registers.SP(); ok && target.Available(d.file, sp, 8) {
			there++
		}
	}
	if len(threads) == 0 {
		return failed(p, fmt.Errorf("threads are %w", target.ErrNotInDump))
	}
	p.Measure(words.ThreadsWithStack.Of(words.N(there), words.N(len(threads))))
	p = measured(p, there, uint64(len(threads)))
	if list, ok := d.file.Target.(interface{ ThreadsCut() bool }); ok && list.ThreadsCut() {
		p.State = answer.PartPartly
		p.Measure(words.ThreadListCut.Of())
	}
	if cut := d.cutStacks(); cut > 0 && p.State == answer.PartWhole {
		p.State = answer.PartPartly
		p.Measure(words.OnlyNearTop.Of(words.N(cut)))
	}
	return p
}

// cutStacks counts the threads with partial stacks: crash reporters keep some kilobytes of each.
func (d *source) cutStacks() int {
	var tops []target.Addr
	for _, t := range d.file.Threads() {
		if sp, ok := t.Registers.SP(); ok {
			tops = append(tops, sp)
		}
	}
	slices.Sort(tops)
	cut := 0
	for r := range d.file.Regions() { // by address, as tops
		for len(tops) > 0 && tops[0] < r.Start+target.Addr(r.Size) {
			if r.Stored < r.Size && r.Start <= tops[0] && tops[0] < r.Start+target.Addr(r.Stored) {
				cut++
			}
			tops = tops[1:]
		}
	}
	return cut
}

// metadata counts the modules with readable metadata.
func (g *builder) metadata(rt *dac.Runtime) answer.PartDiagnosis {
	p := answer.PartDiagnosis{Part: answer.PartMetadata}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return failed(p, err)
	}
	there, fromFiles, emitted := uint64(0), 0, 0
	var first error // of an emitted module
	for _, m := range modules {
		g.moduleFile(m)
		if _, err := m.Metadata(); err != nil {
			if dynamic, derr := m.IsDynamic(); derr == nil && dynamic {
				if emitted++; emitted == 1 {
					first = err
				}
			}
			g.wantMetadata(rt, m)
			continue
		}
		there++
		if src := m.MetadataSource(); src.Path != "" || src.Addr != 0 && g.Dump().MemorySource(src.Addr) != image.SourceDump {
			fromFiles++
		}
	}
	p.Measure(words.ModulesNamed.Of(words.N(there), words.N(len(modules)), words.N(fromFiles)))
	if err != nil {
		p.Measure(words.ModulesUnlisted.Of(words.Text(err.Error())))
	}
	if emitted > 0 {
		if target.Kind(first) != target.ErrUnsupported { // no dump of a runtime without a known place for it helps
			p.Advice = g.larger(words.EmittedNoFile.Of(words.N(emitted)))
		}
		if p.Advice == "" {
			p.Measure(words.EmittedUnread.Of(words.Text(first.Error())))
		}
	}
	return measured(p, there, uint64(len(modules)))
}

// headless requests the files of modules that may be an unidentified runtime.
func (g *builder) headless() {
	for _, m := range dac.Headless(g.file, g.Memory()) {
		if f, _ := g.Dump().ModuleFile(&m); len(f.Refused) > 0 {
			g.Used = append(g.Used, f)
		}
		gives := words.GivesRuntime
		if !target.NamedLibrary(m.Path) {
			gives = words.MayGiveRuntime
		}
		g.want(&m, gives.Of())
	}
}

// wantMetadata requests the file with the metadata of m: its own, or the program that bundles it.
func (g *builder) wantMetadata(rt *dac.Runtime, m *dac.Module) {
	if offset, err := m.BundleOffset(); err == nil && offset != 0 && rt.Instance().SingleFile {
		g.want(&rt.Instance().Module, words.GivesNames.Of())
		return
	}
	if at, err := m.Image(); err == nil && at.Start != 0 {
		g.wantAt(at.Start, m, words.GivesNames.Of())
	}
}

// moduleFile reports the result of the search for a module's file, if there was a search.
func (g *builder) moduleFile(m *dac.Module) {
	at, err := m.Image()
	if err != nil || at.Start == 0 {
		return
	}
	tm := g.Dump().ModuleAt(at.Start)
	if tm == nil {
		return
	}
	if f, _ := g.Dump().ModuleFile(tm); f.File != "" || len(f.Refused) > 0 {
		g.Used = append(g.Used, f)
	}
}

// code counts the readable bytes of the precompiled images' unwind tables. Small dumps hold only the pages that the
// stacks needed.
func (g *builder) code(rt *dac.Runtime) answer.PartDiagnosis {
	p := answer.PartDiagnosis{Part: answer.PartCode}
	modules, err := rt.KnownModules()
	if len(modules) == 0 {
		return failed(p, err)
	}
	images, unread, all, there := 0, 0, uint64(0), uint64(0)
	var first error
	lose := func(m *dac.Module, err error) {
		if unread++; first == nil {
			path, _ := m.Path() // the error has the address
			first = fmt.Errorf("%s: %w", cmp.Or(path, "an image without a name"), err)
		}
	}
	for _, m := range modules {
		img, err := m.PEImage()
		if err != nil {
			if dynamic, _ := m.IsDynamic(); !dynamic {
				lose(m, err)
			}
			continue
		}
		dir := img.ExceptionDirectory()
		if dir.Size == 0 {
			continue
		}
		at, err := img.Address(dir.RVA)
		if err != nil {
			lose(m, err)
			continue
		}
		images++
		all += dir.Size
		n := g.storedIn(target.RangeAt(at, dir.Size))
		if n < dir.Size && g.Dump().MemorySource(at+target.Addr(dir.Size)-1) != "" {
			n = dir.Size // the file completes the dump
		}
		there += n
		if n < dir.Size {
			g.wantAt(img.Base(), m, words.GivesUnwindData.Of())
		}
	}
	own := nativecode.Open(rt.Memory(), g.file.Platform().Arch, &g.chosen.Module)
	if errors.Is(own.Lacks(g.chosen.Module.Base), target.ErrNotInDump) {
		g.want(&g.chosen.Module, words.GivesFrames.Of()) // stacks go through the runtime's code to that of methods
	}
	p = measured(p, there, all)
	if unread == 0 && images == 0 {
		p.Measure(words.NoUnwindTables.Of())
		return p
	}
	p.Measure(words.UnwindTables.Of(words.ExactBytes(there), words.ExactBytes(all), words.N(images)))
	if unread > 0 {
		p.Measure(words.ImagesUnread.Of(words.N(unread), words.Text(first.Error())))
		if p.State == answer.PartWhole {
			p.State = answer.PartPartly
		}
		if images == 0 {
			p.State = answer.PartUnknown
		}
	}
	return p
}

func measured(p answer.PartDiagnosis, there, all uint64) answer.PartDiagnosis {
	switch {
	case there >= all:
		p.State = answer.PartWhole
		return p
	case there == 0:
		p.State = answer.PartMissing
	default:
		p.State = answer.PartPartly
	}
	return p
}

func failed(p answer.PartDiagnosis, err error) answer.PartDiagnosis {
	p.State = answer.PartUnknown
	if errors.Is(err, target.ErrNotInDump) {
		p.State = answer.PartMissing
	}
	if err != nil {
		p.Measure(words.PartUnreadable.Of(words.Text(err.Error())))
	}
	return p
}

// wantAt requests the file of the dump's module at a, the image of a runtime's module. In cores without file names the
// runtime supplies the name.
func (g *builder) wantAt(a target.Addr, of *dac.Module, gives answer.Statement) {
	if m := target.ModuleAt(g.file.Modules(), a); m != nil {
		named := *m
		if named.Path == "" {
			named.Path, _ = of.Path()
		}
		g.want(&named, gives)
	}
}

// want requests the file of a module for what it gives.
func (g *builder) want(m *target.Module, gives answer.Statement) {
	i := slices.IndexFunc(g.Files, func(f answer.WantedFile) bool { return f.Path == m.Path })
	if i < 0 {
		id := image.IdentityOf(g.file, m)
		w := answer.WantedFile{Path: m.Path, Key: symstore.FileKey(m.Path, &id), Is: identified(&id)}
		w.Identity = w.Is.Text
		i, g.Files = len(g.Files), append(g.Files, w)
	}
	g.Files[i].Give(gives)
}

// identified describes which file an image must be.
func identified(id *image.Identity) answer.Statement {
	switch {
	case len(id.BuildID) > 0:
		return words.BuildID.Of(words.Text(hex.EncodeToString(id.BuildID)))
	case id.SizeOfImage != 0:
		size := uint64(id.SizeOfImage)
		return words.StampAndSize.Of(words.Text(fmt.Sprintf("%08x", id.TimeDateStamp)), words.Value(answer.Arg{Type: answer.ArgBytes, Number: &size}, fmt.Sprintf("%x", size)))
	}
	return words.ByStructure.Of()
}
