// Package target describes a dumped process: an address space with holes, modules, threads and
// regions. It knows neither the file formats (packages minidump, elfcore and machocore) nor the CLR
// (package dac). Start reading at Target and Memory.
//
// Everything here is immutable after construction and safe for concurrent use, unless a comment
// says otherwise.
//
// Stability: stable.
package target

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"
)

// An Addr is a location in the target's address space. Go pointers, file offsets and RVAs have
// other types.
type Addr uint64

// String formats a as SOS does: sixteen lower-case hexadecimal digits.
func (a Addr) String() string { return fmt.Sprintf("%016x", uint64(a)) }

// MarshalText returns "0x7f0c". Addresses are text in JSON because JSON numbers lose bits.
func (a Addr) MarshalText() ([]byte, error) {
	return strconv.AppendUint([]byte("0x"), uint64(a), 16), nil
}

// A Memory reads the address space of a target.
//
// Bytes that the dump does not hold are an error, never zeros.
type Memory interface {
	// ReadMemory copies the target's bytes at a into p. If n < len(p) the error is a *MemoryError
	// with Addr a+n.
	ReadMemory(p []byte, a Addr) (n int, err error)

	// View lends the n bytes at a without copying them. It reports false if the range is not stored
	// contiguously or not mapped; use ReadMemory then. The slice is read-only and valid until the
	// dump is closed.
	View(a Addr, n int) (b []byte, ok bool)

	// Span lends the longest contiguous run of stored bytes from a on, or a prefix of it. It
	// returns nil if View would report false for a single byte.
	Span(a Addr) []byte
}

// A Target is one dumped process. Packages minidump, elfcore and machocore implement it.
type Target interface {
	Memory

	Platform() Platform
	Process() Process
	Modules() []Module            // sorted by Base
	Threads() []Thread            // in the dump's order
	Regions() iter.Seq[Region]    // ascending, including regions without bytes
	Exception() (Exception, bool) // why the dump was written, if recorded
	Warnings() []error            // what opening skipped or decided
}

// An OS is the operating system that the target ran on.
type OS uint8

// The operating systems that dumps name. sosgo looks for .NET on the first three.
const (
	OSUnknown OS = iota
	OSLinux      // and Android
	OSWindows
	OSDarwin // macOS and iOS
	OSFreeBSD
	OSNetBSD
	OSOpenBSD
	OSSolaris
	OSFuchsia
)

var osNames = [...]string{"an unknown system", "linux", "windows", "darwin", "freebsd", "netbsd", "openbsd", "solaris", "fuchsia"}

func (o OS) String() string {
	if int(o) < len(osNames) {
		return osNames[o]
	}
	return fmt.Sprintf("OS(%d)", uint8(o))
}

// An Arch is the processor architecture of the target.
type Arch uint8

// The architectures that a dump can name. Only AMD64 is interpreted completely; the registers of
// those after MIPS64 are not supported.
const (
	ArchUnknown Arch = iota
	ArchAMD64
	ArchARM64
	Arch386
	ArchARM
	ArchMIPS
	ArchMIPS64
	ArchPPC
	ArchPPC64
	ArchSPARC
	ArchIA64
	ArchRISCV64
	ArchLoongArch64
	ArchS390X
)

var archNames = [...]string{"an unknown processor", "x64", "arm64", "x86", "arm", "mips", "mips64", "ppc", "ppc64", "sparc", "ia64",
	"riscv64", "loongarch64", "s390x"}

func (a Arch) String() string {
	if int(a) < len(archNames) {
		return archNames[a]
	}
	return fmt.Sprintf("Arch(%d)", uint8(a))
}

// PointerSize returns the size of a pointer in bytes. It is 8 if a is unknown.
func (a Arch) PointerSize() int {
	switch a {
	case Arch386, ArchARM, ArchMIPS, ArchPPC, ArchSPARC:
		return 4
	}
	return 8
}

// A Platform describes the machine and the system of the target.
type Platform struct {
	OS        OS
	Arch      Arch
	OSVersion string // as in the dump; empty if not recorded
	// Distribution is the name of the Linux distribution, such as "Ubuntu 22.04.4 LTS"; empty if
	// not recorded.
	Distribution string
	CPUs         int    // 0 if not recorded
	CPU          string // model of the processor as in the dump; empty if not recorded
}

// FaultsAreSignals reports whether the system notifies a process of a fault by a signal. The
// runtime then makes up the exception record in memory, which does not distinguish reads from writes.
func (p Platform) FaultsAreSignals() bool { return p.OS != OSWindows }

// HidesAddresses reports whether a faulting address of 0 may represent a non-canonical address:
// AMD64 raises #GP for it without an address, and the system reports 0.
func (p Platform) HidesAddresses() bool { return p.FaultsAreSignals() && p.Arch == ArchAMD64 }

// TimersSkipSleep reports whether .NET's timers leave out the time for which the machine sleeps. Environment.TickCount64
// counts it (TimerQueue.Windows.cs). Elsewhere both read one clock.
func (p Platform) TimersSkipSleep() bool { return p.OS == OSWindows }

// HasCOM reports whether a runtime on the system wraps COM objects.
func (p Platform) HasCOM() bool { return p.OS == OSWindows }

// A Process describes the process itself. Zero values are not recorded in the dump.
type Process struct {
	ID          uint32
	Command     string       // executable or command line, as recorded
	Created     time.Time    // start of the process
	DumpTime    time.Time    // when the dump was written
	Times       *Times       // processor time used by the process; nil if not recorded
	Counters    []Counter    // of memory, with the names in the dump
	Container   string       // "ELF core", "Windows minidump", "minidump of a Linux process (Breakpad)"
	Comment     string       // comment streams, the core's signal as text
	Annotations []Annotation // data that the program recorded for its crash reports
	// ExceptionRecord is the address of the EXCEPTION_RECORD64 (winnt.h) of the crash, or 0. An ELF
	// core points to it if createdump of .NET 8 or later wrote it for a NativeAOT process.
	ExceptionRecord Addr
}

// An Annotation holds data that a program, or one of its modules, recorded for its crash reports.
type Annotation struct {
	Module string // path; empty for the process
	Key    string // empty for a line of text without a key
	Value  string
}

// A Content counts one kind of data in a dump besides memory, modules and threads.
type Content struct {
	Name  string // "handles"
	Count int
}

// Times are the processor times that a process used.
type Times struct{ User, Kernel time.Duration }

// A Counter is a number of bytes that the dump records about the memory of the process or the
// system.
type Counter struct {
	Name  string // "working set"
	Bytes uint64
}

// A Mapping is one file-backed range of a module.
type Mapping struct {
	Start, End Addr
	Offset     uint64 // of Start in the file, in bytes
}

// A GUID is in the form of files and memory: its first three parts are little-endian.
type GUID [16]byte

// String formats g as 8-4-4-4-12 lower-case hexadecimal digits.
func (g GUID) String() string {
	return fmt.Sprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%x-%x",
		g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:10], g[10:])
}

// A PDBID identifies the symbol file of a PE image (CodeView RSDS record).
type PDBID struct {
	GUID GUID
	Age  uint32
	Path string
}

// A Module is an image that was mapped into the target. Data that the dump's module list does not
// record, such as an ELF build id, is read from the image by package image.
type Module struct {
	Base     Addr
	Size     uint64 // bytes from Base to the end of the image
	Path     string // as in the dump
	Mappings []Mapping
	// Gap is a part of the image's addresses that something else occupies, such as the vDSO between
	// two segments. It is empty for most modules.
	Gap Range
	// Listed is set if the process's loader listed the module, which proves that it is an image.
	// Otherwise it is a mapped file, and only its headers show whether it is an image.
	Listed bool

	TimeDateStamp uint32 // identifies a PE image; zero for ELF
	SizeOfImage   uint32
	CheckSum      uint32
	Version       [4]uint16 // file version of the VERSIONINFO resource
	PDB           *PDBID

	Bundle *InBundle // not nil if the image is in the bundle of a single-file app

	// BuildID is the build id of an ELF image, or the UUID of a Mach-O image, from the dump's
	// module list, or nil. If BuildIDCut is set, it is the beginning of the build id.
	BuildID    []byte
	BuildIDCut bool
}

// InBundle is the location of an assembly in a single-file app.
type InBundle struct {
	Program string // path of the app's file, as in the list of modules; empty if unknown
	Offset  uint64 // of the assembly in that file, in bytes
}

// Contains reports whether a is inside the module and outside its gap.
func (m *Module) Contains(a Addr) bool {
	return uint64(a-m.Base) < m.Size && a >= m.Base && !m.Gap.Contains(a)
}

// A Range is a half-open range of addresses.
type Range struct{ Start, End Addr }

// RangeAt returns the range of size bytes from start. One that reaches the end of the address space, or beyond it, ends
// at the last address, so that Start <= End: the last byte of the address space is in no range.
func RangeAt(start Addr, size uint64) Range {
	if size > math.MaxUint64-uint64(start) {
		return Range{start, math.MaxUint64}
	}
	return Range{start, start + Addr(size)}
}

// Contains reports whether a is inside r.
func (r Range) Contains(a Addr) bool { return r.Start <= a && a < r.End }

// Size returns the number of bytes in r.
func (r Range) Size() uint64 {
	if r.End < r.Start {
		return 0
	}
	return uint64(r.End - r.Start)
}

// A Thread is an operating-system thread of the target.
type Thread struct {
	ID         uint32 // the OS thread id
	Numbered   bool   // the dump does not record the OS thread id; ID is a unique number instead
	Name       string // empty if not recorded
	Registers  Registers
	TEB        Addr    // Windows: thread environment block, 0 if unknown
	Stack      Range   // the stack memory, empty if not recorded
	Signal     int     // Linux: the thread's current signal, 0 if none
	SignalInfo *Signal // details of the thread's last signal, nil if not recorded
	Suspended  uint32
	Start      Addr // Windows: start address, 0 if unknown
	Created    time.Time
	Kernel     time.Duration
	User       time.Duration
	Timed      bool // the dump records Kernel and User, which may be zero
}

// Protection is the access that a region allows.
type Protection uint8

// The bits of a Protection.
const (
	ProtRead Protection = 1 << iota
	ProtWrite
	ProtExec
)

// ProtectionOf converts the flags of a format; read, write and exec are its bits.
func ProtectionOf(flags, read, write, exec uint32) (p Protection) {
	if flags&read != 0 {
		p |= ProtRead
	}
	if flags&write != 0 {
		p |= ProtWrite
	}
	if flags&exec != 0 {
		p |= ProtExec
	}
	return p
}

func (p Protection) String() string {
	b := [3]byte{'-', '-', '-'}
	for i, c := range [3]byte{'r', 'w', 'x'} {
		if p&(1<<i) != 0 {
			b[i] = c
		}
	}
	return string(b[:])
}

// A RegionKind is what a region was mapped for.
type RegionKind string

// The kinds of regions.
const (
	RegionUnknown RegionKind = "" // not recorded; of a region that createdump made up, too
	RegionImage   RegionKind = "image"
	RegionMapped  RegionKind = "mapped" // a file that is no image
	RegionPrivate RegionKind = "private"
	RegionStack   RegionKind = "stack"
	RegionFree    RegionKind = "free" // nothing is mapped
)

// A Region is a range of the address space with one set of properties.
type Region struct {
	Start  Addr
	Size   uint64
	Stored uint64 // bytes from Start that the dump holds
	Prot   Protection
	Kind   RegionKind
	Path   string // of the mapped file
	Offset uint64 // of Start in that file, in bytes; 0 if not recorded
}

// An Exception is the recorded reason for the dump: an exception record of Windows, or a signal.
type Exception struct {
	ThreadID uint32
	Code     uint32 // Windows: exception code; otherwise the signal's number
	Flags    uint32
	// Address is the instruction that raised the exception (Windows) or Signal.Address. HasAddress
	// reports whether it is recorded; a recorded address can be 0.
	Address    Addr
	HasAddress bool
	Parameters []uint64 // ExceptionInformation of an exception record, at most 15
	// Record is the address in the process of the EXCEPTION_RECORD that led to this one, or 0.
	Record    Addr
	Registers Registers // at the time of the exception, if recorded
	Words     string    // "SIGSEGV/SEGV_MAPERR", "0xe0434352"
	Signal    *Signal   // nil for an exception record
	// Final is set if the system wrote the dump when the exception ended the process. Registers are
	// then from the instruction that raised it.
	Final bool
	// Requested is set if the process or its crash reporter requested the dump and no fault had
	// happened.
	Requested bool
}
