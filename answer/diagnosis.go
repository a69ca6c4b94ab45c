package answer

import (
	"slices"
	"time"

	"github.com/sosgo/sosgo/target"
)

// A Diagnosis describes a dump's content, how it is read, what is missing and what would help. It serves problem
// reports.
type Diagnosis struct {
	Gaps
	File     string             `json:"file,omitempty" doc:"the dump's file"`
	Format   string             `json:"format" doc:"the container"`
	Packed   string             `json:"compressed,omitempty" doc:"how the file was compressed"`
	Size     int64              `json:"size" doc:"bytes of the dump, unpacked"`
	OS       string             `json:"os" doc:"operating system of the process"`
	OSText   string             `json:"osVersion,omitempty" doc:"its version, as the dump words it"`
	Distro   string             `json:"distribution,omitempty" doc:"of Linux"`
	CPUs     int                `json:"processors,omitempty" doc:"of the machine"`
	CPU      string             `json:"processor,omitempty" doc:"their model, as the dump words it"`
	Arch     string             `json:"arch" doc:"processor architecture"`
	PID      uint32             `json:"pid,omitempty" doc:"process id"`
	Command  string             `json:"command,omitempty" doc:"executable or command line"`
	Taken    *time.Time         `json:"taken,omitempty" doc:"when the dump was written"`
	Started  *time.Time         `json:"started,omitempty" doc:"when the process began"`
	User     *Seconds           `json:"userTime,omitempty" doc:"that the process had used, in seconds"`
	Kernel   *Seconds           `json:"kernelTime,omitempty" doc:"that the system had used for the process, in seconds"`
	Counters []MemoryCounter    `json:"memory,omitempty" doc:"what the dump records of the process's and the machine's memory"`
	Comment  string             `json:"comment,omitempty" doc:"that the writer of the dump left"`
	Notes    []CrashAnnotation  `json:"annotations,omitempty" doc:"what the program had written down for its crash reports"`
	Contents []DumpContent      `json:"contents,omitempty" doc:"what else the dump holds"`
	Threads  int                `json:"threads" doc:"OS threads"`
	Modules  int                `json:"modules" doc:"images that were mapped"`
	Stored   uint64             `json:"stored" doc:"bytes of the process's memory in the dump"`
	LeftOut  uint64             `json:"leftOut,omitempty" doc:"further bytes that sosgo shrink left out"`
	InFiles  uint64             `json:"inFiles,omitempty" doc:"further bytes that sosgo shrink left to module files"`
	Runtimes []RuntimeDiagnosis `json:"runtimes" doc:"the .NET runtimes in the process"`
	NoMemory string             `json:"noMemory,omitempty" doc:"of a crash report: why no runtime is looked for"`
	Foreign  string             `json:"foreign,omitempty" doc:"a runtime of .NET in the process that is not read, such as Unity's"`
	Parts    []PartDiagnosis    `json:"parts,omitempty" doc:"what is there of the process"`
	Used     []ModuleFile       `json:"moduleFiles,omitempty" doc:"files that were found for the runtimes' modules, and what proves or belies them"`
	Files    []WantedFile       `json:"files,omitempty" doc:"module files that would help"`
	Warnings []string           `json:"dumpWarnings,omitempty" doc:"what reading the container had to skip or to decide"`
	Held     *DumpContents      `json:"held,omitempty" doc:"with -contents: what the dump holds beside memory, threads and modules"`
	Secrets  *Secrets           `json:"secrets,omitempty" doc:"with -secrets: the values known as secrets"`
	Members  []LayoutMember     `json:"members,omitempty" doc:"the layout of the chosen runtime, if it was asked for"`
}

// Seconds is a length of time.
type Seconds float64

// A MemoryCounter is a number of bytes that the dump records.
type MemoryCounter struct {
	Name  string `json:"name" doc:"what is counted; system: of the whole machine"`
	Bytes uint64 `json:"bytes" doc:"how much" text:"%;size"`
}

// A CrashAnnotation is a program's note for its crash reports.
type CrashAnnotation struct {
	Module string `json:"module,omitempty" doc:"that made it; absent for the process"`
	Key    string `json:"key,omitempty" doc:"what it is about"`
	Value  string `json:"value" doc:"the note"`
}

// A DumpContent is a kind of content of a dump.
type DumpContent struct {
	Name  string `json:"name" doc:"of the kind"`
	Count int    `json:"count" doc:"how many there are"`
}

// DumpContents lists a dump's content apart from memory, threads and modules. It omits the values of environment
// variables, which may be secrets, except for the runtime's own.
type DumpContents struct {
	Auxv        []AuxEntry     `json:"auxv,omitempty" doc:"the auxiliary vector that the kernel of Linux handed to the process"`
	Environment []EnvVariable  `json:"environment,omitempty" doc:"environment variables, in the process's order"`
	Unloaded    []OldModule    `json:"unloadedModules,omitempty" doc:"images that had been unloaded before the dump was written, in the dump's order"`
	Regions     []MemoryRegion `json:"regions,omitempty" doc:"regions of memory, by address"`
}

// An AuxEntry is an entry of the auxiliary vector (linux/auxvec.h).
type AuxEntry struct {
	Tag   uint64      `json:"tag" doc:"number of what it is about"`
	Name  string      `json:"name,omitempty" doc:"of the tag; absent if it is unknown"`
	Value target.Addr `json:"value" doc:"a number or an address"`
}

// An EnvVariable is an environment variable.
type EnvVariable struct {
	Name  string `json:"name" doc:"of the variable"`
	Value string `json:"value,omitempty" doc:"of a variable that configures the runtime (DOTNET_, COMPlus_); absent for others"`
}

// An OldModule is an image that was unloaded before the dump was written.
type OldModule struct {
	Base target.Addr `json:"base" doc:"where it was; something else may be there since"`
	Size uint64      `json:"size" doc:"bytes"`
	Path string      `json:"path" doc:"of its file, or the file's name alone"`
}

// A MemoryRegion is a range of addresses with one set of properties.
type MemoryRegion struct {
	Start  target.Addr       `json:"start" doc:"first address"`
	Size   uint64            `json:"size" doc:"bytes"`
	Stored uint64            `json:"stored" doc:"bytes that the dump holds, from the start"`
	Access string            `json:"access" doc:"r, w, x, or - in place of each"`
	Kind   target.RegionKind `json:"kind,omitempty" doc:"image, mapped, private, stack, free; absent if it is unknown"`
	Path   string            `json:"path,omitempty" doc:"of the mapped file"`
	Offset uint64            `json:"offset,omitempty" doc:"of the start in that file, in bytes; absent where the dump or its reader has none"`
}

// A RuntimeDiagnosis describes how a runtime is read.
type RuntimeDiagnosis struct {
	Index    int            `json:"index" doc:"number for --runtime"`
	Chosen   bool           `json:"chosen" doc:"the commands look at this one"`
	Kind     string         `json:"kind" doc:"\".NET Core\" or \"NativeAOT\""`
	Version  string         `json:"version,omitempty" doc:"as far as it is known"`
	Path     string         `json:"path" doc:"the runtime's library"`
	Base     target.Addr    `json:"base" doc:"where it was loaded"`
	Identity string         `json:"identity" doc:"identity of this build"`
	File     string         `json:"localFile,omitempty" doc:"the same library on this machine"`
	Proof    string         `json:"proof,omitempty" doc:"why this file counts as the same"`
	FileErr  error          `json:"-"` // why there is no File
	Sources  []LayoutSource `json:"layout,omitempty" doc:"what the structures are read with, in the order of belief"`
	// DescriptorError is why the process's contract descriptor is refused. Sources are then used instead.
	DescriptorError string `json:"descriptorError,omitempty" doc:"why the contract descriptor in the process is refused, with its address"`
	// Contracts lists the contracts of the process's contract descriptor.
	Contracts []Contract `json:"contracts,omitempty" doc:"contracts of the runtime's descriptor, by name"`
	// Known is the catalogue's layout for a runtime that cannot be opened because the dump holds nothing of its data.
	Known     string  `json:"knownLayout,omitempty" doc:"layout that the catalogue has for a runtime of whose data the dump holds nothing"`
	Candidate bool    `json:"layoutIsCandidate,omitempty" doc:"knownLayout is of another build of the version: nothing else speaks for it"`
	Foreign   string  `json:"foreignLayout,omitempty" doc:"version that the layout was measured on, if it or the processor is another (8.0 on x64): the probes alone speak for it"`
	Globals   string  `json:"globals,omitempty" doc:"how the entries of the runtime's table of globals differ from the known ones"`
	Probes    []Probe `json:"probes,omitempty" doc:"checks of the layout against the process"`
	Error     string  `json:"error,omitempty" doc:"why the runtime could not be opened"`
}

// A LayoutSource is a source of knowledge about a runtime's structures.
type LayoutSource struct {
	Source  string `json:"source" doc:"a descriptor or a table"`
	Members int    `json:"members" doc:"members of structures that were taken from it"`
}

// A Contract is a separately versioned part of a runtime's description.
type Contract struct {
	Name        string `json:"name" doc:"of the contract"`
	Version     string `json:"version" doc:"in the process; empty if the descriptor describes structures of the contract without naming it"`
	Implemented bool   `json:"implemented" doc:"sosgo reads this version"`
	Gives       string `json:"gives,omitempty" doc:"what rests on it; absent if sosgo does not use it"`
}

// A LayoutMember is a fact about a runtime's structures: the offset of a member, the size of a structure, or the
// address of a global variable.
type LayoutMember struct {
	Name   string `json:"name" doc:"structure and member"`
	Value  string `json:"value" doc:"offset, size, address or constant"`
	Source string `json:"source" doc:"the descriptor or table that has it"`
}

// A Probe is a check of a layout against the process.
type Probe struct {
	Name   string `json:"name" doc:"what was checked"`
	Result string `json:"result" doc:"\"passed\", \"failed\" or \"not in the dump\""`
	Detail string `json:"detail,omitempty" doc:"what was found"`
}

// The results of a probe.
const (
	ProbePassed    = "passed"
	ProbeFailed    = "failed"
	ProbeNotInDump = "not in the dump"
)

// A PartState is how completely a dump holds a part of the process.
type PartState string

// The states of a part.
const (
	PartWhole   PartState = "whole"
	PartPartly  PartState = "in part"
	PartMissing PartState = "missing"
	PartUnknown PartState = "unreadable" // it could not be read for another reason
)

// A Part is a part of the process that answers read.
type Part string

// The parts, in the order of a diagnosis.
const (
	PartHeap     Part = "GC heap"          // the objects' memory
	PartStacks   Part = "thread stacks"    // their tops
	PartMetadata Part = "metadata"         // names of types and members
	PartCode     Part = "precompiled code" // its unwind tables
)

// A PartDiagnosis describes one part. It leaves the consequences to the callers that need the part.
type PartDiagnosis struct {
	Part   Part        `json:"name" doc:"a part of the process"`
	State  PartState   `json:"state" doc:"\"whole\", \"in part\", \"missing\" or \"unreadable\""`
	Detail string      `json:"detail,omitempty" doc:"how much of it is there"`
	Facts  []Statement `json:"facts,omitempty" doc:"the parts of detail with their arguments"`
	Costs  []string    `json:"costs,omitempty" doc:"commands that can't answer, or only in part"`
	Advice string      `json:"advice,omitempty" doc:"what would have it, where no file of a module does"`
}

// Measure adds how much of the part is there.
func (p *PartDiagnosis) Measure(facts ...Statement) {
	for _, f := range facts {
		if p.Detail != "" {
			p.Detail += "; "
		}
		p.Detail, p.Facts = p.Detail+f.Text, append(p.Facts, f)
	}
}

// A ModuleFile is the result of the search for a module's file.
type ModuleFile struct {
	Path    string   `json:"path" doc:"the module, as the dump names it"`
	File    string   `json:"file,omitempty" doc:"the file that stands for it"`
	Proof   string   `json:"proof,omitempty" doc:"why this file counts as the one that was loaded"`
	Refused []string `json:"refused,omitempty" doc:"files that were looked at and refused, and why"`
}

// A WantedFile is a file that would complete the dump.
type WantedFile struct {
	Path     string      `json:"path" doc:"the module, as the dump names it"`
	Identity string      `json:"identity" doc:"what the file must be"`
	Is       Statement   `json:"is,omitzero" doc:"identity with its arguments"`
	Key      string      `json:"key,omitempty" doc:"under which symbol servers keep it"`
	Why      string      `json:"why" doc:"what it would supply"`
	Gives    []Statement `json:"gives,omitempty" doc:"the parts of why"`
}

// Give adds what the file would supply, if it is not known yet.
func (w *WantedFile) Give(what Statement) {
	if slices.ContainsFunc(w.Gives, func(s Statement) bool { return s.Text == what.Text }) {
		return
	}
	if w.Why != "" {
		w.Why += "; "
	}
	w.Why, w.Gives = w.Why+what.Text, append(w.Gives, what)
}

// A Pack is a dump and its module files in one file.
type Pack struct {
	File    string       `json:"file" doc:"the pack"`
	Files   []PackedFile `json:"files" doc:"the module files in it"`
	Missing []string     `json:"missing" doc:"modules whose files were not found and would be needed"`
	Others  int          `json:"others,omitempty" doc:"further images of the process whose files were not found; no answer needs them"`
	// Only of a pack that was scrubbed or shrunk.
	Size     int64           `json:"size,omitempty" doc:"bytes of the pack"`
	Scrubbed *Scrubbed       `json:"scrubbed,omitempty" doc:"what was replaced in the dump"`
	Shrunk   *Shrunk         `json:"shrunk,omitempty" doc:"what was left out of the dump"`
	Withheld []string        `json:"withheld,omitempty" doc:"modules with files that were found and are not in the pack, because they are not .NET's own"`
	Receiver []PartDiagnosis `json:"receiver,omitempty" doc:"what is there of the process for a receiver without any other file"`
}

// A PackedFile is a module file in a pack.
type PackedFile struct {
	Path string `json:"path" doc:"where the file was found"`
	Size int64  `json:"size" doc:"bytes"`
}

// A Runtime is a .NET runtime of the process.
type Runtime struct {
	Index      int         `json:"index" doc:"number of the runtime"`
	Chosen     bool        `json:"chosen" doc:"the runtime that commands look at"`
	Flavor     string      `json:"flavor" doc:"\".NET Core\" or \"NativeAOT\""`
	Version    string      `json:"version,omitempty" doc:"version of the release, or of the file if the release is unknown"`
	File       string      `json:"fileVersion,omitempty" doc:"version of the file, or another source of the version"`
	Text       string      `json:"versionText,omitempty" doc:"the version that the runtime gives itself"`
	Address    target.Addr `json:"address" doc:"base of its image"`
	Size       uint64      `json:"size" doc:"bytes of its image"`
	Identity   string      `json:"identity" doc:"build id, or time stamp and size of the image"`
	Path       string      `json:"path" doc:"of its file"`
	SingleFile bool        `json:"singleFile" doc:"the runtime is part of the application's executable"`
	Exports    []Export    `json:"exports" doc:"symbols for debuggers"`
}

// An Export is a symbol of an image that debuggers look for.
type Export struct {
	Name    string      `json:"name" doc:"of the symbol"`
	Address target.Addr `json:"address,omitempty" doc:"of the symbol; absent if the runtime does not export it"`
	Err     Reason      `json:"error,omitzero" doc:"why it is unknown whether the runtime exports it"`
}

// An EEVersion describes the version of a runtime and the kind of its GC.
type EEVersion struct {
	Gaps
	Version string     `json:"version" doc:"file version, or another source of the version"`
	Release string     `json:"release,omitempty" doc:"version of the release, or of the file if the release is unknown"`
	Text    string     `json:"versionText,omitempty" doc:"the version that the runtime gives itself, with its commit"`
	Core3   bool       `json:"-"` // a runtime of .NET Core 3, whose file versions begin with 4
	Server  *bool      `json:"server,omitempty" doc:"server GC; absent where the heap can't be read"`
	NoGC    Reason     `json:"gcError,omitzero" doc:"why the heap can't be read"`
	Heaps   Maybe[int] `json:"heaps,omitzero" doc:"number of GC heaps"`
	DATAS   *uint64    `json:"datas,omitempty" doc:"mode of dynamic adaptation to application sizes of a server GC"`
	// InGC is unknown where the heap can't be read.
	InGC Maybe[bool] `json:"inCollection,omitzero" doc:"the dump was taken in the middle of a collection; absent where the heap can't be read"`
}
