// Package sosgo opens dumps of .NET processes and answers what SOS answers,
// on any machine and with nothing installed: no .NET, no debugger, no
// data-access library, no symbol server.
//
//	d, err := sosgo.Open("core.1234", sosgo.Options{})
//	if err != nil { … }
//	defer d.Close()
//	heap, err := d.Heap()
//	for obj, err := range heap.Objects() { … }
//
// A Dump lends memory of the dump's file: nothing that came from it may be
// used after Close. It is safe for concurrent use. No function logs, prints or
// panics; errors answer errors.Is for target.ErrNotInDump, target.ErrCorrupt or
// target.ErrUnsupported.
//
// The packages below can be used by themselves: target (the process), minidump
// and elfcore (the containers), image and metadata (what modules contain), dac
// (the runtime's structures), heap (the GC heap), objects (values), stackwalk
// (stacks and their frames), stackscan (the objects that stacks may refer to).
package sosgo

import (
	"fmt"
	"io"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Options change how a dump is opened. The zero value is right for most.
type Options struct {
	// Modules are folders with the module files of the dumped process, searched
	// with their subfolders. A file counts only if its content proves that it
	// is the one that was loaded.
	Modules []string
	// NoLocalFiles keeps the paths that the dump records from being tried on
	// this machine.
	NoLocalFiles bool
	// SymbolServers are asked, in order, for module files that are found
	// nowhere on this machine; empty asks none.
	SymbolServers []string
	// SymbolCache is the folder for what they gave; empty is the cache of the
	// .NET tools in the user's home folder.
	SymbolCache string
	// Runtime chooses one of several CLRs: its number in Runtimes, or the start
	// of its version. Empty is the first.
	Runtime string
	// Jobs is the number of goroutines that walks may use; 0 is one a
	// processor.
	Jobs int
	// NoMmap reads the file instead of mapping it.
	NoMmap bool
	// MaxDecompressed bounds the size of a compressed dump in bytes once it is
	// unpacked; 0 is 1 TB.
	MaxDecompressed int64
	// Progress, if not nil, is told how far the unpacking of a compressed dump
	// is, in bytes of the file.
	Progress func(done, total int64)
	// WrapMemory, if not nil, returns what stands between the readers and the
	// process's memory, for programs that trace reads or feign faults. What it
	// returns must be safe for concurrent use.
	WrapMemory func(target.Memory) target.Memory
	// WrapFile, if not nil, does the same for what is read of a module's file,
	// which is addressed as the loaded image is, from 0. What a file adds to the
	// process's memory is read through WrapMemory alone.
	WrapFile func(m *target.Module, image target.Memory) target.Memory
}

// A Dump is an open dump.
type Dump struct {
	file    *dump.File
	options Options
	files   *moduleFiles
	mem     *memory
	read    target.Memory // mem, or what WrapMemory made of it

	runtimes lazy[[]*dac.Instance]

	mu      sync.Mutex
	want    string // the runtime that is looked at, as Options.Runtime
	current *view
	views   map[*dac.Instance]*view
}

// A view is one of the process's runtimes, opened at its first use.
type view struct {
	inst    *dac.Instance
	runtime lazy[*dac.Runtime]
	heap    lazy[*heap.Heap]
	objects lazy[*objects.Reader]
	scanner lazy[*stackscan.Scanner]
	walker  lazy[*stackwalk.Walker]
}

// Open opens the dump in a file: an ELF core or a Windows minidump, also
// compressed by gzip or zstd. The content decides, not the name.
func Open(path string, o Options) (*Dump, error) {
	f, err := dump.Open(path, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

// OpenReaderAt opens a dump of size bytes that the caller holds.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*Dump, error) {
	f, err := dump.OpenReaderAt(r, size, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

func dumpOptions(o Options) dump.Options {
	return dump.Options{NoMmap: o.NoMmap, MaxDecompressed: o.MaxDecompressed, Progress: o.Progress}
}

func newDump(f *dump.File, o Options) *Dump {
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	d := &Dump{file: f, options: o, want: o.Runtime, views: map[*dac.Instance]*view{}}
	d.files = newModuleFiles(f, o)
	d.mem = newMemory(f, d.files)
	d.read = d.mem
	if o.WrapMemory != nil {
		d.read = o.WrapMemory(d.mem)
	}
	return d
}

// Close releases the dump.
func (d *Dump) Close() error {
	d.files.close()
	return d.file.Close()
}

// File describes the dump's file; it is the dumped process as a target.Target.
func (d *Dump) File() *dump.File { return d.file }

// Target is the dumped process. Its memory is what the dump holds.
func (d *Dump) Target() target.Target { return d.file }

// Memory is the process's memory, completed by the read-only parts of module
// files where the dump lacks them.
func (d *Dump) Memory() target.Memory { return d.read }

// MemorySource says where the byte at a comes from: "dump", the path of a
// module's file, or "" if neither has it.
func (d *Dump) MemorySource(a target.Addr) string { return d.mem.source(a) }

// Jobs is the number of goroutines that walks may use.
func (d *Dump) Jobs() int { return d.options.Jobs }

// Runtimes returns the .NET runtimes in the process, oldest version first.
func (d *Dump) Runtimes() []*dac.Instance {
	list, _ := d.runtimes.get(func() ([]*dac.Instance, error) {
		found := dac.Find(d.file, d.read, d.files)
		sort.SliceStable(found, func(i, j int) bool { return dac.CompareVersions(found[i].Version(), found[j].Version()) < 0 })
		for i := range found {
			found[i].Index = i
		}
		return found, nil
	})
	return list
}

// Runtime opens the runtime that Options.Runtime or UseRuntime chose.
func (d *Dump) Runtime() (*dac.Runtime, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.runtime.get(v.inst.Open)
}

// Objects returns the reader of the chosen runtime's objects.
func (d *Dump) Objects() (*objects.Reader, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.objects.get(func() (*objects.Reader, error) {
		rt, err := v.runtime.get(v.inst.Open)
		if err != nil {
			return nil, err
		}
		return objects.New(rt), nil
	})
}

// Heap opens the GC heap of the chosen runtime.
func (d *Dump) Heap() (*heap.Heap, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.heap.get(func() (*heap.Heap, error) {
		rt, err := v.runtime.get(v.inst.Open)
		if err != nil {
			return nil, err
		}
		return heap.Open(rt, d.file)
	})
}

// UseRuntime makes another runtime of the process the chosen one: want is its
// number in Runtimes, or the start of its version. What Runtime and Heap
// returned before stays valid.
func (d *Dump) UseRuntime(want string) error {
	inst, err := d.choose(want)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want, d.current = want, d.viewOf(inst)
	return nil
}

// ChosenRuntime is the runtime that Runtime opens. Nothing of it is read but
// what Runtimes reads.
func (d *Dump) ChosenRuntime() (*dac.Instance, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.inst, nil
}

// view is the chosen runtime's.
func (d *Dump) view() (*view, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current == nil {
		inst, err := d.choose(d.want)
		if err != nil {
			return nil, err
		}
		d.current = d.viewOf(inst)
	}
	return d.current, nil
}

// viewOf returns the only view of a runtime. The caller holds mu.
func (d *Dump) viewOf(inst *dac.Instance) *view {
	v := d.views[inst]
	if v == nil {
		v = &view{inst: inst}
		d.views[inst] = v
	}
	return v
}

func (d *Dump) choose(want string) (*dac.Instance, error) {
	all := d.Runtimes()
	want = strings.TrimPrefix(want, "#")
	if len(all) == 0 {
		return nil, target.Unsupportedf("no .NET runtime found among %d modules of the process", len(d.file.Modules()))
	}
	if want == "" {
		// A CLR answers more than a NativeAOT image beside it.
		for _, inst := range all {
			if inst.Flavor == dac.FlavorCoreCLR {
				return inst, nil
			}
		}
		return all[0], nil
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 0 && n < len(all) {
		return all[n], nil
	}
	for _, inst := range all {
		if v := inst.Version(); v == want || strings.HasPrefix(v, want+".") {
			return inst, nil
		}
	}
	return nil, fmt.Errorf("no runtime %q in the process: %w", want, target.ErrUnsupported)
}

// A lazy value is computed once, at the first use.
type lazy[T any] struct {
	once sync.Once
	v    T
	err  error
}

func (l *lazy[T]) get(f func() (T, error)) (T, error) {
	l.once.Do(func() { l.v, l.err = f() })
	return l.v, l.err
}
