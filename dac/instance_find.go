package dac

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A Flavor is a kind of .NET runtime.
type Flavor uint8

// The flavors.
const (
	FlavorCoreCLR Flavor = iota
	FlavorNativeAOT
)

func (f Flavor) String() string {
	if f == FlavorNativeAOT {
		return "NativeAOT"
	}
	return ".NET Core"
}

// Symbols that runtimes export for debuggers.
const (
	symDescriptor = "DotNetRuntimeContractDescriptor" // 9 and later
	symDacTable   = "g_dacTable"                      // CoreCLR; before 8 only in some builds
	symAOTHeader  = "DotNetRuntimeDebugHeader"        // NativeAOT
	symSingleFile = "DotNetRuntimeInfo"               // single-file applications
)

// ExportedSymbols returns the names that a runtime may export for debuggers, in the order of SOS.
func ExportedSymbols() []string {
	return []string{symSingleFile, symDacTable, symAOTHeader, symDescriptor}
}

// An Instance is a runtime found in the process, before it is opened.
type Instance struct {
	Index      int // in the order of the modules' addresses
	Module     target.Module
	Image      *image.Image
	Identity   image.Identity
	Flavor     Flavor
	SingleFile bool

	others     []*Instance // the other runtimes of the process
	tgt        target.Target
	mem        target.Memory
	files      ModuleFiles
	descriptor target.Addr // 0 if not exported
	aotHeader  target.Addr // DotNetRuntimeDebugHeader of a NativeAOT program
	dacTable   target.Addr
	dacSize    uint64 // 0 if unknown
	version    sync.Once
	versionStr string
	fileOnce   sync.Once
	file       *image.Image
	fileErr    error
	threadIDs  lazy.Value[map[uint32]bool]
	numbered   lazy.Value[map[uint32]target.Addr] // stack pointers of threads without an OS id
	stacks     lazy.Value[map[uint32]target.Range]
	aot        lazy.Value[*nativeImage]
	headless   bool // known only by name and identity; see findStacksOnly
}

// Find returns the runtimes of a process. It examines every module, whatever its name: in a single-file
// application the main executable is the runtime. mem is t's memory, or an overlay of it.
//
// Find opens the file of a module only if that can decide something. It does not read through mem modules that
// the dump alone excludes, or modules without a sign of a runtime if another module has one. In a minidump with
// only stacks, it finds a runtime by the name of its library; such a runtime cannot be opened: see
// StacksOnlyError.
func Find(t target.Target, mem target.Memory, files ModuleFiles) []*Instance {
	mods := t.Modules()
	signs := make([]sign, len(mods))
	for i := range mods {
		signs[i] = signOf(t, &mods[i])
	}
	var out []*Instance
	find := func(least sign, examine func(target.Target, target.Memory, ModuleFiles, *target.Module) *Instance) {
		for i := range mods {
			if signs[i] < least {
				continue
			}
			if inst := examine(t, mem, files, &mods[i]); inst != nil {
				inst.Index = len(out)
				out = append(out, inst)
			}
		}
	}
	if find(signed, examine); len(out) == 0 {
		find(unsigned, examine)
	}
	for i := 0; i < len(mods) && len(out) == 0; i++ {
		if inst := examineHidden(t, mem, files, &mods[i]); inst != nil {
			out = append(out, inst)
		}
	}
	if len(out) == 0 {
		out = findStacksOnly(t, mem, files)
	}
	for i, inst := range out {
		inst.others = slices.Delete(slices.Clone(out), i, i+1)
	}
	return out
}

// A sign is the evidence in the dump that a module may be a runtime.
type sign uint8

const (
	excluded sign = iota // the module is managed, or exports no symbol of a runtime
	unsigned             // the module's exports are not in the dump
	signed               // the module may be a runtime
)

// signOf examines a module without opening any file.
func signOf(t target.Target, m *target.Module) sign {
	if namedRuntime(m.Path) {
		return signed
	}
	inst := newInstance(t, t, nil, m)
	if inst == nil {
		return unsigned
	}
	if _, err := inst.Image.CLRHeader(); inst.Image.Kind() == image.KindPE && !errors.Is(err, target.ErrUnsupported) {
		return excluded // an assembly
	}
	missing := false
	for _, name := range []string{symDescriptor, symDacTable, symAOTHeader} {
		_, _, err := inst.symbol(name)
		if err == nil {
			return signed
		}
		missing = missing || errors.Is(err, target.ErrNotInDump)
	}
	switch {
	case !missing:
		return excluded
	case inst.findDebugHeader() != 0 || inst.findDescriptor() != 0:
		return signed
	}
	return unsigned
}

// examine returns the runtime in m, or nil if m is not a runtime.
func examine(t target.Target, mem target.Memory, files ModuleFiles, m *target.Module) *Instance {
	inst := newInstance(t, mem, files, m)
	if inst == nil {
		return nil // the headers are unreadable
	}
	var errDesc, errTable error
	inst.descriptor, _, errDesc = inst.symbol(symDescriptor)
	inst.dacTable, inst.dacSize, errTable = inst.symbol(symDacTable)
	if at, _, err := inst.symbol(symAOTHeader); err == nil && errTable != nil {
		inst.Flavor, inst.aotHeader = FlavorNativeAOT, at
		return inst
	}
	if errDesc != nil && errTable != nil && !namedRuntime(m.Path) {
		return nil
	}
	if errors.Is(errDesc, target.ErrNotInDump) {
		inst.descriptor = inst.findDescriptor()
	}
	_, _, err := inst.symbol(symSingleFile)
	inst.SingleFile = err == nil && !namedRuntime(m.Path)
	return inst
}

// newInstance returns m as a runtime, or nil if its headers are unreadable.
func newInstance(t target.Target, mem target.Memory, files ModuleFiles, m *target.Module) *Instance {
	img, err := image.OpenMemory(mem, m)
	if err != nil {
		return nil
	}
	inst := &Instance{Module: *m, Image: img, tgt: t, mem: mem, files: files}
	if img.Kind() != image.KindPE && img.Layout() == image.Loaded {
		// A core without the image's headers lacks the end of its .bss.
		inst.Module.Size = max(m.Size, img.Size())
	}
	inst.Identity = identityOf(img, m)
	return inst
}

// examineHidden returns the runtime in m that no export reveals, or nil. A NativeAOT program may not export its
// debug header: the linker of .NET 8 keeps only exports declared in libraries, or the program was stripped. The
// exports of a single-file app may be in pages that are not in the dump.
func examineHidden(t target.Target, mem target.Memory, files ModuleFiles, m *target.Module) *Instance {
	inst := newInstance(t, mem, files, m)
	if inst == nil {
		return nil
	}
	if inst.aotHeader = inst.findDebugHeader(); inst.aotHeader != 0 {
		inst.Flavor = FlavorNativeAOT
		return inst
	}
	if inst.descriptor = inst.findDescriptor(); inst.descriptor != 0 {
		inst.SingleFile = !namedRuntime(m.Path)
		return inst
	}
	return nil
}

// Headless returns the modules that may be runtimes but cannot be identified: libraries with the name of a
// runtime and unreadable headers, and programs with unreadable exports, such as a single-file app in a core
// without file pages. It returns none if the process has a runtime of another family, which explains the process for sure (see ForeignRuntime).
func Headless(t target.Target, mem target.Memory) []target.Module {
	if ForeignRuntime(t) != "" {
		return nil
	}
	var out []target.Module
	for _, m := range t.Modules() {
		if namedRuntime(m.Path) && !target.Available(mem, m.Base, 2) || !target.NamedLibrary(m.Path) && exportsMissing(mem, &m) {
			out = append(out, m)
		}
	}
	return out
}

// foreignRuntimes maps libraries of unsupported .NET runtimes to the names of these runtimes.
var foreignRuntimes = map[string]string{
	"clr.dll":               "the .NET Framework 4",
	"mscorwks.dll":          "the .NET Framework 2.0 to 3.5",
	"gameassembly.dll":      "code that Unity's IL2CPP compiled",
	"libil2cpp.so":          "code that Unity's IL2CPP compiled",
	"mono.dll":              "Unity's Mono",
	"mono-2.0-sgen.dll":     "Mono",
	"mono-2.0-bdwgc.dll":    "Unity's Mono",
	"libmonosgen-2.0.so":    "Mono",
	"libmonobdwgc-2.0.so":   "Unity's Mono",
	"libmonosgen-2.0.dylib": "Mono",
}

// ForeignRuntime describes an unsupported .NET runtime in the process, and names a tool that reads it. It
// returns "" if the process has no such runtime.
func ForeignRuntime(t target.Target) string {
	for _, m := range t.Modules() {
		name := strings.ToLower(target.BaseName(m.Path))
		what := foreignRuntimes[name]
		switch {
		case what == "":
			continue
		case name == "clr.dll" || name == "mscorwks.dll":
			return fmt.Sprintf("the process runs %s (%s), whose structures sosgo has no layout for: WinDbg with the SOS of the Framework reads them; "+
				"modules, threads, native stacks and memory can be read", what, target.BaseName(m.Path))
		}
		return fmt.Sprintf("the process runs %s (%s), which sosgo does not read: modules, threads, native stacks and memory can be read", what, target.BaseName(m.Path))
	}
	return ""
}

// exportsMissing reports whether the image has exports that are not in mem.
func exportsMissing(mem target.Memory, m *target.Module) bool {
	img, err := image.OpenMemory(mem, m)
	if err != nil {
		return false
	}
	_, _, err = img.Symbol(symDescriptor)
	return errors.Is(err, target.ErrNotInDump)
}

// namedRuntime reports whether path ends with the name of the runtime's library. The name counts only if the
// exports are not conclusive.
func namedRuntime(path string) bool {
	switch strings.ToLower(target.BaseName(path)) {
	case "libcoreclr.so", "coreclr.dll", "libcoreclr.dylib":
		return true
	}
	return false
}

func (i *Instance) symbol(name string) (target.Addr, uint64, error) {
	rva, size, err := i.Image.Symbol(name)
	if err != nil {
		return 0, 0, err
	}
	return i.Module.Base + target.Addr(rva), size, nil
}

func identityOf(img *image.Image, m *target.Module) image.Identity {
	if img.Kind() != image.KindPE {
		id, err := img.BuildID()
		if err != nil {
			return image.Identity{}
		}
		return image.Identity{BuildID: id}
	}
	return image.Identity{TimeDateStamp: m.TimeDateStamp, SizeOfImage: m.SizeOfImage}
}

// versionInPath matches the version in the folder of a shared framework:
// .../Microsoft.NETCore.App/8.0.5/libcoreclr.so.
var versionInPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[/\\]Microsoft\.NETCore\.App[/\\](\d+\.\d+\.\d+)`)
})

// Version returns the runtime's version from the first source that has it: the version resource or string
// ("10.0.1426.52326"), the folder, the catalogue or the core library ("10.0.14"). It returns "" if all lack it.
func (i *Instance) Version() string {
	i.version.Do(func() { i.versionStr = i.findVersion() })
	return i.versionStr
}

func (i *Instance) findVersion() string {
	if i.Flavor == FlavorNativeAOT {
		return i.nativeVersion()
	}
	if v := i.Module.Version; v != [4]uint16{} {
		return fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3])
	}
	if s := i.VersionText(); s != "" {
		return strings.TrimSuffix(strings.Fields(s)[0], ",")
	}
	if b, err := layout.KnownBuild(i.Identity); err == nil && b != nil {
		return b.Version
	}
	if m := versionInPath().FindStringSubmatch(i.Module.Path); m != nil {
		return m[1]
	}
	v, _, _ := strings.Cut(i.coreLibVersion(), "+") // the commit
	return v
}

// VersionText returns the runtime's version string, "10.0.1426.52326 @Commit: …". It returns "" if neither the
// dump nor a file of the build has it.
func (i *Instance) VersionText() string {
	if i.Flavor == FlavorNativeAOT {
		return i.Version() // the file's version string is the program's version
	}
	if s, err := i.Image.VersionString(); err == nil {
		return strings.TrimSpace(s)
	}
	if file, err := i.openFile(); err == nil {
		if s, err := file.VersionString(); err == nil {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// osThreads returns the operating system's numbers of the dump's threads.
func (i *Instance) osThreads() map[uint32]bool {
	ids, _ := i.threadIDs.Get(func() (map[uint32]bool, error) {
		threads := i.tgt.Threads()
		ids := make(map[uint32]bool, len(threads))
		for n := range threads {
			ids[threads[n].ID] = true
		}
		return ids, nil
	})
	return ids
}

// idInDump returns the dump's id of a thread with an OS id and a stack, or 0. byStack reports that only the
// stack identifies the thread: the dump does not record its OS id, and it is the only one with a stack pointer
// on that stack.
func (i *Instance) idInDump(os uint32, stack target.Range) (id uint32, byStack bool) {
	numbered, _ := i.numbered.Get(func() (map[uint32]target.Addr, error) {
		out := map[uint32]target.Addr{}
		for _, t := range i.tgt.Threads() {
			if t.Numbered {
				out[t.ID], _ = t.Registers.SP()
			}
		}
		return out, nil
	})
	if len(numbered) == 0 || os == 0 {
		return os, false
	}
	_, taken := numbered[os]
	if i.osThreads()[os] && !taken {
		return os, false
	}
	for n, sp := range numbered {
		if !stack.Contains(sp) {
			continue
		}
		if id != 0 {
			return 0, false
		}
		id = n
	}
	if id == 0 && !taken {
		return os, false
	}
	return id, id != 0
}

// threadOfStack returns the id of the thread with a on its stack or at the end of it, or 0. A stack reaches
// from the stack pointer to the end of its region.
func (i *Instance) threadOfStack(a target.Addr) uint32 {
	stacks, _ := i.stacks.Get(func() (map[uint32]target.Range, error) { return stacksOf(i.tgt), nil })
	found, start := uint32(0), target.Addr(0)
	for id, s := range stacks {
		if (s.Contains(a) || a == s.End) && s.Start > start { // several stacks can share a region; the nearest wins
			found, start = id, s.Start
		}
	}
	return found
}

// A stackPointer is the stack pointer of a thread.
type stackPointer struct {
	sp target.Addr
	id uint32
}

// stackPointersOf returns the stack pointers of the threads with registers in the dump, by address.
func stackPointersOf(t target.Target) []stackPointer {
	threads := t.Threads()
	pointers := make([]stackPointer, 0, len(threads))
	for n := range threads {
		if sp, ok := threads[n].Registers.SP(); ok {
			pointers = append(pointers, stackPointer{sp, threads[n].ID})
		}
	}
	slices.SortStableFunc(pointers, func(a, b stackPointer) int { return cmp.Compare(a.sp, b.sp) })
	return pointers
}

// stacksOf returns the stacks of the threads with registers in the dump.
func stacksOf(t target.Target) map[uint32]target.Range {
	pointers := stackPointersOf(t)
	out := make(map[uint32]target.Range, len(pointers))
	for r := range t.Regions() { // sorted by address, as the pointers are
		end := r.Start + target.Addr(r.Size)
		for len(pointers) > 0 && pointers[0].sp < end {
			if p := pointers[0]; p.sp >= r.Start {
				out[p.id] = target.Range{Start: p.sp, End: end}
			}
			pointers = pointers[1:]
		}
	}
	return out
}

// openFile opens the runtime's own file on this machine.
func (i *Instance) openFile() (*image.Image, error) {
	i.fileOnce.Do(func() {
		if i.files == nil {
			i.fileErr = target.Unsupportedf("no module files were searched")
			return
		}
		i.file, i.fileErr = i.files.File(&i.Module, i.Image)
	})
	return i.file, i.fileErr
}

// CompareVersions compares dotted decimal versions part by part. It returns a negative number if a is older. An
// unknown version is the oldest.
func CompareVersions(a, b string) int { return layout.CompareVersions(a, b) }
