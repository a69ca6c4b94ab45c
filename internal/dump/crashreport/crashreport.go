// Package crashreport reads the crash reports of .NET (*.crashreport.json). createdump writes them
// next to a dump, and the runtime of .NET 11 can write them itself. A report lists the threads of a
// process with their frames and contains no memory. Start reading at Open and Report.
//
// The format is defined by src/coreclr/debug/createdump/crashreportwriter.cpp (.NET 6 to 11) and
// src/coreclr/debug/crashreport/inproccrashreporter.cpp (.NET 11), protocol 1.0.0.
package crashreport

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A NoMemoryError reports that a crash report can't answer because it contains no memory. It wraps
// target.ErrUnsupported.
type NoMemoryError struct{}

func (*NoMemoryError) Error() string {
	return "the file is a crash report of .NET, which lists threads and frames and holds no memory"
}

// Unwrap returns target.ErrUnsupported.
func (*NoMemoryError) Unwrap() error { return target.ErrUnsupported }

// Advice returns which commands work with a report, and where the dump is.
func (*NoMemoryError) Advice() string {
	return "crashinfo, clrstack, clrthreads, threads, modules, info and summarize answer from a crash report; " +
		"the dump that was written with it has the same name without .crashreport.json"
}

// A Report is an open crash report. It is a target without memory; its modules are the modules of
// frames. It is immutable.
type Report struct {
	platform  target.Platform
	process   target.Process
	threads   []thread
	modules   []target.Module
	crash     *target.Exception // nil if no thread crashed and there is no signal
	placeless int               // number of modules without an address
	warnings  []error
}

var _ target.Target = (*Report)(nil)

// A thread is a thread of a report.
type thread struct {
	target.Thread
	at        position
	managed   bool // it is a thread of the runtime
	exception exception
	frames    []frame
}

// An exception is the managed exception that a thread handles, or that it threw last. It is absent
// if typ is empty and object and hresult are 0.
type exception struct {
	object  target.Addr
	typ     string
	hresult uint32
}

// A frame is a frame of a report. A pointer is nil if the report does not have the number.
type frame struct {
	managed        bool
	sp, ip         *uint64
	base           target.Addr // of the module, 0 if unknown
	offset         *uint64     // of ip from the start of the function
	method, symbol string
	module         string // file name
	cycle, repeat  int    // in the first frame of a cycle: number of its frames, and how often they repeat
}

// Sniff reports whether head begins a crash report: JSON with an object "payload" that begins with
// the protocol version.
func Sniff(head []byte) bool {
	rest := head
	for _, part := range []string{"{", `"payload"`, ":", "{", `"protocol_version"`} {
		var found bool
		if rest, found = bytes.CutPrefix(bytes.TrimLeft(rest, " \r\n\t"), []byte(part)); !found {
			return false
		}
	}
	return true
}

// Open reads the report in src. If a report is cut or damaged, Open returns what precedes the
// damage, and a warning. The error is target.ErrCorrupt if no thread precedes it.
func Open(src target.Source, l target.Limits) (*Report, error) {
	if src.Size() > limits.CrashReportBytes {
		return nil, target.Corruptf("a crash report of %d bytes; those of real processes have some megabytes", src.Size())
	}
	r := newReader(src, l.Or(target.Limits{Threads: limits.Threads}))
	err := r.read()
	if err != nil && len(r.out.threads) == 0 {
		return nil, err
	}
	r.out.warn(err)
	r.finish(err == nil)
	return r.out, nil
}

// warn records a warning, up to a limit. It ignores nil.
func (r *Report) warn(err error) {
	if err != nil && len(r.warnings) < limits.CrashReportWarnings {
		r.warnings = append(r.warnings, err)
	}
}

// addModule adds the module of a frame. Frames may hold different parts of a module's description.
func addModule(all map[target.Addr]*target.Module, f *frame, stamp, size uint64) {
	if f.base == 0 || f.module == "" {
		return
	}
	m := all[f.base]
	if m == nil {
		if len(all) >= limits.Modules {
			return
		}
		m = &target.Module{Base: f.base, Path: f.module, Listed: true}
		all[f.base] = m
	}
	if m.SizeOfImage == 0 && stamp>>32 == 0 && size>>32 == 0 {
		m.TimeDateStamp, m.SizeOfImage = uint32(stamp), uint32(size)
	}
	m.Size = max(m.Size, uint64(m.SizeOfImage))
	if f.ip != nil && !f.managed && target.Addr(*f.ip) >= f.base { // jitted code is outside of the module
		m.Size = max(m.Size, *f.ip-uint64(f.base)+1)
	}
}

// sortModules sorts modules by address. It cuts a size that reaches into the next module.
func sortModules(all map[target.Addr]*target.Module) []target.Module {
	var out []target.Module
	for _, base := range slices.Sorted(maps.Keys(all)) {
		if n := len(out); n > 0 {
			out[n-1].Size = min(out[n-1].Size, uint64(base-out[n-1].Base))
		}
		out = append(out, *all[base])
	}
	if n := len(out); n > 0 {
		out[n-1].Size = min(out[n-1].Size, -uint64(out[n-1].Base))
	}
	return out
}

// ModulesNote returns an error that describes what is missing in Modules.
func (r *Report) ModulesNote() error {
	text := "a crash report names the modules of frames alone, and no sizes of native ones"
	if r.placeless > 0 {
		text += fmt.Sprintf("; of %d no address", r.placeless)
	}
	return fmt.Errorf("modules: %s: others are %w", text, target.ErrNotInDump)
}

// Platform implements target.Target.
func (r *Report) Platform() target.Platform { return r.platform }

// Process implements target.Target.
func (r *Report) Process() target.Process { return r.process }

// Modules implements target.Target. They are the modules of frames. A native module ends, as far as
// known, after its last frame.
func (r *Report) Modules() []target.Module { return slices.Clone(r.modules) }

// Threads implements target.Target.
func (r *Report) Threads() []target.Thread {
	out := make([]target.Thread, len(r.threads))
	for i := range r.threads {
		out[i] = r.threads[i].Thread
	}
	return out
}

// Regions implements target.Target. It is empty.
func (r *Report) Regions() iter.Seq[target.Region] { return func(func(target.Region) bool) {} }

// Exception implements target.Target. It returns the thread that crashed, and the signal.
func (r *Report) Exception() (target.Exception, bool) {
	if r.crash == nil {
		return target.Exception{}, false
	}
	return *r.crash, true
}

// Warnings implements target.Target.
func (r *Report) Warnings() []error { return slices.Clone(r.warnings) }

// ReadMemory implements target.Memory. It always fails.
func (r *Report) ReadMemory(p []byte, a target.Addr) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: &NoMemoryError{}}
}

// View implements target.Memory. It lends nothing.
func (r *Report) View(target.Addr, int) ([]byte, bool) { return nil, false }

// Span implements target.Memory. It lends nothing.
func (r *Report) Span(target.Addr) []byte { return nil }

// NextStored implements target.SparseMemory.
func (r *Report) NextStored(target.Addr) (target.Addr, bool) { return 0, false }
