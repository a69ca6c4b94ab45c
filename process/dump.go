package process

import (
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
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/inuse"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// Options change how a dump is opened. The zero value is right for most.
type Options struct {
	// Modules are folders with the module files of the dumped process, searched with their subfolders. A file counts only if its content
	// proves that it is the one that was loaded.
	Modules []string
	// NoLocalFiles keeps the paths that the dump records from being tried on this machine, and what is installed on it from being searched.
	NoLocalFiles bool
	// Offline keeps everything from being opened or contacted that the dump names:
	// NoLocalFiles, and no symbol servers. What is left are the dump, with what was
	// packed with it, and the folders of Modules.
	Offline bool
	// SymbolServers are asked, in order, for module files that are found nowhere on this machine. Package image/symbolserver has
	// servers that are reached by HTTP.
	SymbolServers []SymbolServer
	// Context, if not nil, is asked for the context that ends opening, and at each download from a symbol server for the one that ends it:
	// files are fetched when memory that they have is first read, whoever reads it.
	Context func() context.Context
	// Runtime is the runtime of the default View: its number in Runtimes, or the start of its version. Empty is the first CLR.
	Runtime string
	// Jobs is the number of goroutines that walks may use; 0 is one a processor.
	Jobs int
	// NoMmap reads the file instead of mapping it.
	NoMmap bool
	// MaxDecompressed bounds the size of a compressed dump in bytes once it is unpacked; 0 is 1 TB.
	MaxDecompressed int64
	// MaxRatio bounds how many bytes a compressed dump may unpack to for each byte of its file, if it is more than 1 GB; 0 is 1000.
	MaxRatio int64
	// Limits bound what the dump can make sosgo hold.
	Limits target.Limits
	// Cache is a folder in which large compressed dumps are kept unpacked for the next time; dump.DefaultCache is the usual one. Empty
	// keeps none. CacheSize is how many bytes of them are kept; 0 is 64 GB.
	Cache     string
	CacheSize int64
	// GraphDir is a folder in which the graphs of heaps' objects are kept for the next time (graph.Keep): some 45 bytes an
	// object. It is made if it is not there. Empty keeps none.
	GraphDir string
	// Progress, if not nil, receives the progress of unpacking a compressed dump, in bytes of the file.
	Progress func(done, total int64)
	// WrapMemory, if not nil, returns what stands between the readers and the process's memory, for programs that trace reads or feign
	// faults. What it returns must be safe for concurrent use.
	WrapMemory func(target.Memory) target.Memory
	// WrapFile, if not nil, does the same for what is read of a module's file, which is addressed as the loaded image is, from 0. What a
	// file adds to the process's memory is read through WrapMemory alone.
	WrapFile func(m *target.Module, image target.Memory) target.Memory
}

// A SymbolServer fetches files by their keys in a symbol store (the Simple Symbol Query Protocol). It must be safe for concurrent use.
type SymbolServer interface {
	// Get returns the path of a file on this machine, once check has accepted it. The error is fs.ErrNotExist if the server does
	// not have the file.
	Get(ctx context.Context, key string, check func(path string) error) (path string, err error)
	// Problem returns the first failure of the server; nil if it has just not had a file.
	Problem() error
	// String names the server in messages.
	String() string
}

// A Dump is an open dump.
type Dump struct {
	file    *dump.File
	options Options
	files   *modfiles.Files
	mem     *image.Completed
	read    target.Memory // mem, or what WrapMemory made of it

	life     context.Context // ends when the dump is closed
	end      context.CancelFunc
	users    *inuse.Gate // who builds a graph
	runtimes lazy.Value[[]*dac.Instance]
	witness  lazy.Value[[]*dac.Runtime]
	// stackWords are words on stacks that may be return addresses; see fitReturnAddresses.
	stackWords lazy.Value[[]target.Addr]
	above      sync.Map // *extension -> *lazy.Value[T]: the values of PerDump

	mu        sync.Mutex
	processes map[*dac.Instance]*Process
}

// Open opens the dump in a file: an ELF core, a Mach-O core or a Windows minidump, also compressed by gzip or zstd. The content decides, not the name.
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

// OpenStream opens the dump that r gives, a pipe for example, through a temporary file.
func OpenStream(r io.Reader, o Options) (*Dump, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := dump.OpenStream(r, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

// OpenReaderAt opens a dump of size bytes that the caller holds.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*Dump, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("open dump: %w", ErrNoDump)
	}
	f, err := dump.OpenReaderAt(r, size, dumpOptions(o))
	if err != nil {
		return nil, err
	}
	return newDump(f, o), nil
}

// OpenTarget opens a process that the caller reads: every answer is computed over t. A memory that lends nothing, because it is
// reached over a network for example, is read in blocks, which are kept. Close does not close t.
//
// A memory with holes should implement target.SparseMemory, and so should one that wraps another memory: the methods of the inner one don't
// reach the caller by themselves. Without it, a search for what is stored behind a hole tries each word, some 1,000 reads that fail for each page.
func OpenTarget(t target.Target, o Options) (*Dump, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := dump.OfTarget(t)
	if err != nil {
		return nil, fmt.Errorf("open target: %w", err)
	}
	return newDump(f, o), nil
}

// Over opens a process that the caller reads with the options of d, but for those of its file: t stands between the readers and the process of
// d, to trace what they read, for example.
func (d *Dump) Over(t target.Target) (*Dump, error) { return OpenTarget(t, d.orNone().options) }

// Like opens another dump with the options of d, but for its folders: nothing of it is kept. Folders are of this machine: if the paths that
// dumps record are tried on it, module files are searched for in those that exist, too.
func (d *Dump) Like(path string, folders ...string) (*Dump, error) {
	o := d.orNone().options
	o.Modules = slices.Clone(o.Modules)
	for _, dir := range folders {
		if st, err := os.Stat(dir); err == nil && st.IsDir() && !o.NoLocalFiles && !o.Offline {
			o.Modules = append(o.Modules, dir)
		}
	}
	o.Cache, o.GraphDir = "", ""
	return Open(path, o)
}

// check returns an error for options that can't be meant.
func (o *Options) check() error {
	if slices.Contains(o.SymbolServers, nil) {
		return errors.New("a symbol server is nil")
	}
	for _, dir := range o.Modules {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is no folder")}
		}
		if err != nil {
			return fmt.Errorf("folder of module files: %w", err)
		}
	}
	return nil
}

func dumpOptions(o Options) dump.Options {
	return dump.Options{NoMmap: o.NoMmap, MaxDecompressed: o.MaxDecompressed, MaxRatio: o.MaxRatio, Limits: o.Limits,
		Cache: o.Cache, CacheSize: o.CacheSize, Context: o.Context, Progress: o.Progress}
}

func newDump(f *dump.File, o Options) *Dump {
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	d := &Dump{file: f, options: o, processes: map[*dac.Instance]*Process{}}
	d.life, d.end = context.WithCancel(context.Background())
	d.users = inuse.New(ErrClosed)
	d.files = d.moduleFiles()
	d.mem = image.Complete(f, d.files.Found, d.files.Bundled)
	d.read = d.mem
	if o.WrapMemory != nil {
		d.read = o.WrapMemory(d.mem)
	}
	return d
}

// ErrClosed is about a dump behind Close.
var ErrClosed = target.Unsupportedf("the dump is closed")

// none stands for a nil or zero Dump: a process that holds nothing.
var none = sync.OnceValue(func() *Dump {
	f, _ := dump.OfTarget(absent.Process(nil)) // it is a target
	return newDump(f, Options{Offline: true})
})

// orNone returns d, or none for a nil or zero Dump.
func (d *Dump) orNone() *Dump {
	if d == nil || d.file == nil {
		return none()
	}
	return d
}

// ErrNoDump is the error of a zero Dump or View.
var ErrNoDump = target.Unsupportedf("no dump is open")

// Close releases the dump. Calls that compute an answer or use the graph are stopped with an error, and Close waits for them. From now on
// every read of the dump's memory fails with target.ErrUnsupported. What was read before, such as rows of metadata, stays readable; the
// mapping of the file ends when nothing refers to it any more. Close may be called at any time, by any goroutine, and again.
func (d *Dump) Close() error {
	if d == nil || d.file == nil || !d.users.Close() {
		return nil
	}
	d.end()
	d.closeGraphs()
	return errors.Join(d.files.Close(), d.file.Close())
}

// Truncated says that the dump's file is cut, and by how much; see dump.File.
func (d *Dump) Truncated() error { return d.orNone().file.Truncated() }

// OpenFiles opens the files of all modules that can be found. Otherwise each is opened when memory that it has is first read. What is not
// found stays missing; the error is the context's.
func (d *Dump) OpenFiles(ctx context.Context) error {
	d = d.orNone()
	modules := d.file.Modules()
	return workers.Each(ctx, d.options.Jobs, len(modules), func(i int) {
		_, _ = d.files.Found(&modules[i]) // its readers say what is missing
	})
}

// File describes the dump's file; it is the dumped process as a target.Target.
func (d *Dump) File() *dump.File { return d.orNone().file }

// Target returns the dumped process. Its memory is what the dump holds.
func (d *Dump) Target() target.Target { return d.orNone().file }

// Memory returns the process's memory, completed by the read-only parts of module files where the dump lacks them.
func (d *Dump) Memory() target.Memory { return d.orNone().read }

// MemorySource returns where the byte at a comes from: "dump", the path of a module's file, or "" if neither has it.
func (d *Dump) MemorySource(a target.Addr) string { return d.orNone().mem.Source(a) }

// Jobs returns the number of goroutines that walks may use.
func (d *Dump) Jobs() int { return d.orNone().options.Jobs }

// Runtimes returns the .NET runtimes in the process, oldest version first.
func (d *Dump) Runtimes() []*dac.Instance {
	d = d.orNone()
	list, _ := d.runtimes.Get(func() ([]*dac.Instance, error) {
		if d.file.Report() != nil {
			return nil, nil // known by their names alone, and View has the reason
		}
		found := dac.Find(d.file, d.read, d.files)
		sort.SliceStable(found, func(i, j int) bool { return dac.CompareVersions(found[i].Version(), found[j].Version()) < 0 })
		for i := range found {
			found[i].Index = i
		}
		return found, nil
	})
	return list
}

// Modules returns the images of the process by address; see image.Modules.
func (d *Dump) Modules() []image.Module {
	d = d.orNone()
	return image.Modules(d.file, d.read)
}

// Pack writes a pack of the dump to w: one file with the dump and the files of its modules, which Open opens directly; see dump.File.Pack.
func (d *Dump) Pack(ctx context.Context, w io.Writer, progress func(done, total int64)) (*dump.Packed, error) {
	d = d.orNone()
	return d.file.Pack(ctx, w, d.packEntries, progress)
}

// PackFile writes a pack of the dump to a new file; see dump.File.PackFile.
func (d *Dump) PackFile(ctx context.Context, name string, progress func(done, total int64)) (*answer.Pack, error) {
	d = d.orNone()
	return d.file.PackFile(ctx, name, d.packEntries, progress)
}

// ID returns the dump's own id: 16 hexadecimal digits that depend on its content alone.
func (d *Dump) ID() (string, error) {
	if d == nil || d.file == nil {
		return "", ErrNoDump
	}
	f, err := d.file.Fingerprint()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(f[:8]), nil
}

// Environment lists the environment variables of the process as NAME=VALUE.
func (d *Dump) Environment() ([]string, error) {
	if list := d.orNone().file.Environment(); len(list) > 0 {
		return list, nil
	}
	return nil, fmt.Errorf("environment of the process: %w", target.ErrNotInDump)
}

// Default returns the process as the default runtime sees it (Options.Runtime). If there is none, its readers return the reason.
func (d *Dump) Default() *Process {
	p, _ := d.Process("") // it keeps the error
	return p
}

// Runtime opens the default runtime.
func (d *Dump) Runtime() (*dac.Runtime, error) { return d.Default().Runtime() }

// Heap opens the GC heap of the default runtime.
func (d *Dump) Heap() (*heap.Heap, error) { return d.Default().Heap() }

// Objects returns the reader of objects of the default runtime.
func (d *Dump) Objects() (*objects.Reader, error) { return d.Default().Objects() }

// Scanner scans stacks for objects of the default runtime.
func (d *Dump) Scanner() (*stackscan.Scanner, error) { return d.Default().Scanner() }

// Walker walks the stacks of the default runtime's threads.
func (d *Dump) Walker() (*stackwalk.Walker, error) { return d.Default().Walker() }

// Threads lists the threads of the process, joined with the threads that the default runtime knows.
func (d *Dump) Threads() ([]threads.Thread, error) { return d.Default().Threads() }
