package process

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/inuse"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Options control how a dump is opened. The zero value suits most callers.
type Options struct {
	// Modules are folders with module files of the dumped process. Subfolders are searched too. A file is used only
	// if its content proves that it is the file that was loaded.
	Modules []string
	// NoLocalFiles disables the search on this machine: the paths that the dump records, and installed runtimes.
	NoLocalFiles bool
	// Offline implies NoLocalFiles and ignores SymbolServers. Only the dump, the files packed with it and the folders
	// of Modules are read.
	Offline bool
	// SymbolServers are asked in order for module files that are not on this machine. remote.NewSymbolServer
	// returns one for HTTP.
	SymbolServers []SymbolServer
	// OpenContext, if not nil, returns the context for opening and, later, for each download from a symbol server. A
	// download may start at any read of memory: a module's file is fetched at the first read of memory that it holds.
	OpenContext func() context.Context
	// Runtime selects the runtime of the default View: its number in Runtimes, or the start of its version. Empty
	// selects the first CLR.
	Runtime string
	// Jobs is the number of goroutines for walks; 0 means one per processor.
	Jobs int
	// NoMmap reads the file instead of mapping it. Use it for a file that may still change.
	NoMmap bool
	// MaxDecompressed limits the unpacked size of a compressed dump, in bytes; 0 means 1 TB.
	MaxDecompressed int64
	// MaxRatio limits the compression ratio of a dump that unpacks to more than 1 GB; 0 means 1000.
	MaxRatio int64
	// MaxMemory limits the memory of graphs, and of the other large tables that answers make, in bytes; 0 means no
	// limit. It is one limit for all answers of the dump. The tables of an answer, such as the list of all tasks or
	// timers, count while it is computed. Not counted are the dump's file, which is mapped, and what else Go's heap holds,
	// such as types and texts. An answer that needs more fails with target.ErrLimit, or notes what it left out.
	MaxMemory int64
	// Limits bound the memory that the content of a dump can make sosgo allocate.
	Limits target.Limits
	// Cache is a folder for unpacked copies of large compressed dumps; dump.DefaultCache is the usual one. Empty
	// disables the cache. CacheSize is its size in bytes; 0 means 64 GB.
	Cache     string
	CacheSize int64
	// GraphDir is a folder for graphs of heaps, about 45 bytes per object, which are reused the next time
	// (graph.Keep). It is created if missing. Empty disables it.
	GraphDir string
	// Progress, if not nil, receives the progress of unpacking a compressed dump, in bytes of the file.
	Progress func(done, total int64)
	// WrapMemory, if not nil, returns the memory that the readers use instead of the process's memory, for example to
	// trace reads or to inject faults. Its result must be safe for concurrent use.
	WrapMemory func(target.Memory) target.Memory
	// WrapFile, if not nil, wraps reads of a module's file. Addresses are RVAs of the loaded image. Memory of the
	// process that comes from the file is read through WrapMemory only.
	WrapFile func(m *target.Module, image target.Memory) target.Memory
}

// A SymbolServer fetches files by their keys in a symbol store (Simple Symbol Query Protocol). It must be safe for
// concurrent use.
type SymbolServer interface {
	// Get returns the local path of a file that check has accepted. The error is fs.ErrNotExist if the server does
	// not have the file.
	Get(ctx context.Context, key string, check func(path string) error) (path string, err error)
	// Problem returns the server's first failure, or nil. A missing file is not a failure.
	Problem() error
	// String names the server in messages.
	String() string
}

// A Dump is an open dump. It is safe for concurrent use, including Close.
type Dump struct {
	file    *dump.File
	options Options
	files   *modfiles.Files
	mem     *completedMemory
	read    target.Memory // mem, or the result of WrapMemory

	life     context.Context // ends when the dump is closed
	end      context.CancelFunc
	budget   *offheap.Budget // of MaxMemory
	users    *inuse.Gate     // calls that compute answers; Close waits for them
	runtimes lazy.Value[[]*dac.Instance]
	witness  lazy.Value[[]*dac.Runtime]
	// stackWords are words on stacks that may be return addresses (fitReturnAddresses).
	stackWords lazy.Value[[]target.Addr]
	above      sync.Map // *extension -> *lazy.Value[T]: the values of PerDump

	mu        sync.Mutex
	processes map[*dac.Instance]*Process
	bare      *Process // the last one without a runtime
}

// Open opens a dump file: an ELF core, a Mach-O core or a Windows minidump, plain or compressed with gzip or zstd. It
// detects the format by content, not by name.
func Open(path string, o Options) (*Dump, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := dump.Open(path, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

var errNothing error = target.Argumentf("there is nothing to open: it is nil")

// OpenStream opens the dump that r provides, such as a pipe. It copies the dump to a temporary file.
func OpenStream(r io.Reader, o Options) (*Dump, error) {
	if err := o.check(); err != nil || r == nil {
		return nil, cmp.Or(err, errNothing)
	}
	f, err := dump.OpenStream(r, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

// OpenReaderAt opens a dump of size bytes in r. Close does not close r.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*Dump, error) {
	if err := o.check(); err != nil || r == nil {
		return nil, cmp.Or(err, errNothing)
	}
	f, err := dump.OpenReaderAt(r, size, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

// OpenTarget opens a process that the caller reads through t. Memory that lends no slices, for example because it is
// remote, is read in blocks, which are cached. Close does not close t.
//
// Memory with holes should implement target.SparseMemory, and a wrapper should forward it. Otherwise a search for the
// next readable memory tries each word of a hole: about 1,000 failed reads per page.
func OpenTarget(t target.Target, o Options) (*Dump, error) {
	if err := o.check(); err != nil || t == nil {
		return nil, cmp.Or(err, errNothing)
	}
	f, err := dump.OfTarget(t)
	if err != nil {
		return nil, fmt.Errorf("open target: %w", err)
	}
	return newDump(f, o), nil
}

// Over opens t with d's options, except those about the file. t usually wraps d's process, for example to trace
// reads.
func (d *Dump) Over(t target.Target) (*Dump, error) { return OpenTarget(t, d.options) }

// OverAlone is Over without any module file. The readers use the result of wrap instead of the process's memory.
func (d *Dump) OverAlone(t target.Target, wrap func(target.Memory) target.Memory) (*Dump, error) {
	o := d.options
	o.Offline, o.Modules, o.WrapMemory = true, nil, wrap
	return OpenTarget(t, o)
}

// Like opens another dump with d's options, except that nothing is cached. If local files are allowed, it also searches
// the given folders for module files, if they exist on this machine.
func (d *Dump) Like(path string, folders ...string) (*Dump, error) {
	o := d.options
	o.Modules = slices.Clone(o.Modules)
	for _, dir := range folders {
		if st, err := os.Stat(dir); err == nil && st.IsDir() && !o.NoLocalFiles && !o.Offline {
			o.Modules = append(o.Modules, dir)
		}
	}
	o.Cache, o.GraphDir = "", ""
	return Open(path, o)
}

// check returns an error for invalid options.
func (o *Options) check() error {
	if slices.Contains(o.SymbolServers, nil) {
		return target.Argumentf("a symbol server is nil")
	}
	if o.MaxMemory < 0 {
		return target.Argumentf("the limit of memory is negative: %d", o.MaxMemory)
	}
	for _, dir := range o.Modules {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: dir, Err: target.Argumentf("it is no folder")}
		}
		if err != nil {
			return fmt.Errorf("folder of module files: %w", err)
		}
	}
	return nil
}

func dumpOptions(o Options) dump.Options {
	return dump.Options{NoMmap: o.NoMmap, MaxDecompressed: o.MaxDecompressed, MaxRatio: o.MaxRatio, Limits: o.Limits,
		Cache: o.Cache, CacheSize: o.CacheSize, OpenContext: o.OpenContext, Progress: o.Progress}
}

func newDump(f *dump.File, o Options) *Dump {
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	d := &Dump{file: f, options: o, processes: map[*dac.Instance]*Process{}}
	d.life, d.end = context.WithCancel(context.Background())
	d.budget = offheap.NewBudget(o.MaxMemory)
	d.users = inuse.New(ErrClosed)
	d.files = d.moduleFiles()
	d.mem = complete(f, d.files.Found, d.files.Bundled)
	d.read = d.mem
	if o.WrapMemory != nil {
		d.read = o.WrapMemory(d.mem)
	}
	return d
}

// ErrClosed is the error of a read or an answer after Close.
var ErrClosed = target.Closedf("the dump is closed")

// Close releases the dump. It stops running calls, which fail, and waits for them. Later reads of the dump's memory
// fail with target.ErrClosed. Values read before, such as rows of metadata, stay readable: the file stays mapped
// while anything refers to it. Close may be called at any time, by any goroutine, and more than once.
func (d *Dump) Close() error {
	if !d.users.Close() {
		return nil
	}
	d.end()
	d.closeGraphs()
	return errors.Join(d.files.Close(), d.file.Close())
}

// Truncated returns an error if the dump's file is truncated; see dump.File.
func (d *Dump) Truncated() error { return d.file.Truncated() }

// Limited returns an error that wraps target.ErrLimit if one of the Limits left out a part of the dump's lists, and otherwise nil.
func (d *Dump) Limited() error { return d.file.Limited() }

// Lost returns an error if the dump's file, or a module's file, could no longer be read as it was when it was opened; see dump.File.
func (d *Dump) Lost() error { return cmp.Or(d.file.Lost(), d.files.Lost()) }

// OpenFiles opens the files of all modules that it can find. Without it, each file is opened at the first read of
// memory that it holds. Missing files are no error; the error is ctx's.
func (d *Dump) OpenFiles(ctx context.Context) error {
	modules := d.file.Modules()
	return workers.Each(ctx, d.options.Jobs, len(modules), func(i int) {
		_, _ = d.files.Found(&modules[i]) // readers of the module report the error
	})
}

// File returns the dump's file. It is also the dumped process as a target.Target.
func (d *Dump) File() *dump.File { return d.file }

// Target returns the dumped process with the memory that the dump holds.
func (d *Dump) Target() target.Target { return d.file }

// Memory returns the process's memory. Read-only parts of module files fill its gaps.
func (d *Dump) Memory() target.Memory { return d.read }

// MemorySource returns the source of the byte at a: "dump", the path of a module's file, or "" if the byte is
// unreadable.
func (d *Dump) MemorySource(a target.Addr) string { return d.mem.Source(a) }

// Jobs returns the number of goroutines for walks.
func (d *Dump) Jobs() int { return d.options.Jobs }

// Runtimes returns the .NET runtimes in the process, oldest version first. The caller may change the slice.
func (d *Dump) Runtimes() []*dac.Instance {
	list, _ := d.runtimes.Get(func() ([]*dac.Instance, error) {
		if crashreport.Of(d.file.Target) != nil {
			return nil, nil // a crash report has only the runtimes' names; Process returns the reason
		}
		found := dac.Find(d.file, d.read, d.files)
		sort.SliceStable(found, func(i, j int) bool { return dac.CompareVersions(found[i].Version(), found[j].Version()) < 0 })
		for i := range found {
			found[i].Index = i
		}
		return found, nil
	})
	return slices.Clone(list)
}

// Modules returns the images of the process, sorted by address; see image.Modules.
func (d *Dump) Modules() []image.Module { return image.Modules(d.file, d.read) }

// Pack writes the dump and the files of its modules to w as one file, which Open accepts; see dump.File.Pack.
func (d *Dump) Pack(ctx context.Context, w io.Writer, progress func(done, total int64)) (*dump.Packed, error) {
	return d.file.Pack(ctx, w, d.PackEntries, progress)
}

// PackFile writes a pack of the dump to a new file; see dump.File.PackFile.
func (d *Dump) PackFile(ctx context.Context, name string, progress func(done, total int64)) (*answer.Pack, error) {
	return d.file.PackFile(ctx, name, d.PackEntries, progress)
}

// ID returns 16 hexadecimal digits that depend only on the dump's content.
func (d *Dump) ID() (string, error) {
	f, err := d.file.Fingerprint()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(f[:8]), nil
}

// Environment lists the environment variables of the process as NAME=VALUE.
func (d *Dump) Environment() ([]string, error) {
	if list := d.file.Environment(); len(list) > 0 {
		return list, nil
	}
	return nil, fmt.Errorf("environment of the process: %w", target.ErrNotInDump)
}

// Default returns the process as the default runtime sees it (Options.Runtime). If there is no such runtime, its
// readers return the reason.
func (d *Dump) Default() *Process {
	p, _ := d.Process("") // its readers return the error
	return p
}

// Runtime opens the default runtime.
func (d *Dump) Runtime() (*dac.Runtime, error) { return d.Default().Runtime() }

// Heap opens the GC heap of the default runtime.
func (d *Dump) Heap() (*heap.Heap, error) { return d.Default().Heap() }

// Objects returns the object reader of the default runtime.
func (d *Dump) Objects() (*objects.Reader, error) { return d.Default().Objects() }

// Scanner returns the stack scanner of the default runtime.
func (d *Dump) Scanner() (*stackscan.Scanner, error) { return d.Default().Scanner() }

// Walker returns the stack walker of the default runtime.
func (d *Dump) Walker() (*stackwalk.Walker, error) { return d.Default().Walker() }

// Threads returns a copy of the list of threads of the process, joined with the default runtime's threads.
func (d *Dump) Threads() ([]stackwalk.Thread, error) {
	list, err := d.Default().Threads()
	return slices.Clone(list), err
}
