package graph

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/sosgo/sosgo/internal/arrayfile"
	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/target"
)

// A Keep says where the arrays of a graph are kept, so that the next start has them at once: in files of a folder,
// one for the rows (17 bytes an object), and one each for what lives (1/8), the edges turned round (9) and the
// dominators (16), which are written when they are first computed. They are mapped and checked before anything is
// believed: checksums, bounds, and that hundreds of objects all over the heap are as the rows say.
//
// Files count only for the same dump, read by the same build of sosgo, with the same roots. What is not that, or is
// damaged, is noted (Graph.Notes), built anew and replaced; that something can't be written is noted too. The graph of
// a heap that can't be walked or read as a whole is not kept: its files would have to tell what is wrong with it.
//
// A file that another program cuts while it is mapped ends this one, as with the dump itself; NoMmap is for folders
// where that may happen.
type Keep struct {
	Dir  string // it is made if it is not there
	Name string // what the names of the files begin with
	// Dump tells the content of the dump from that of any other, and from what it was at another time.
	Dump   []byte
	NoMmap bool // the files are read instead of mapped
}

// keptVersion is of what the files have. Their format has a version of its own.
const keptVersion = 2

// What the files are called.
const (
	keptRows       = "rows"
	keptLive       = "live"
	keptReferrers  = "referrers"
	keptDominators = "dominators"
	keptSuffix     = ".sosgo"
)

// kept are the files of one graph. Its methods are for any number of goroutines.
type kept struct {
	o       *Keep
	key     arrayfile.Key
	workers int
	budget  *offheap.Budget
	off     bool // the heap is not whole: nothing is kept, and nothing looked for

	mu    sync.Mutex
	files []*arrayfile.File
	notes []error
}

// newKept finds the key of the graph that b is to build.
func newKept(b *builder) *kept {
	h := sha256.New()
	fmt.Fprintf(h, "sosgo graph %d %s %d %x\n", keptVersion, build(), len(b.o.Keep.Dump), b.o.Keep.Dump)
	heapKey(h, b)
	rootsKey(h, b.r)
	return &kept{o: b.o.Keep, key: arrayfile.Key(h.Sum(nil)), workers: b.o.Jobs, budget: b.budget}
}

// build is which build of sosgo this is, as far as it knows.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision", "vcs.time", "vcs.modified":
			text += " " + s.Value
		}
	}
	return text
}

// heapKey adds what says of a heap where its objects are.
func heapKey(w hash.Hash, b *builder) {
	fmt.Fprintln(w, b.h.Runtime().WellKnown().Free, b.h.Regions(), b.h.Server(), b.h.Stored(), b.h.AllocContexts())
	for i := range b.h.Segments() {
		s := &b.h.Segments()[i]
		fmt.Fprintln(w, s.Addr, s.Kind, s.Objects, s.Gen0, s.Gen1, s.Gen2)
	}
}

// rootsKey adds all that a graph has of its roots.
func rootsKey(w hash.Hash, r *Roots) {
	var row []byte
	put := func(values ...uint64) {
		row = row[:0]
		for _, v := range values {
			row = binary.LittleEndian.AppendUint64(row, v)
		}
		w.Write(row)
	}
	put(uint64(len(r.Sources)), uint64(len(r.Edges)), uint64(len(r.Dependents)), uint64(len(r.Kept)))
	for i := range r.Sources {
		s := &r.Sources[i]
		put(uint64(s.Kind), uint64(s.Parent), uint64(s.Handle), uint64(s.Slot))
	}
	for i := range r.Edges {
		e := &r.Edges[i]
		put(uint64(e.Source), uint64(e.Object), uint64(e.Slot), uint64(e.Ref))
	}
	for i := range r.Dependents {
		d := &r.Dependents[i]
		put(uint64(d.Handle), uint64(d.Primary), uint64(d.Secondary))
	}
}

func (k *kept) close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.files {
		_ = f.Close() // it was only read
	}
	k.files = nil
}

// note keeps an error for Graph.Notes. That somebody wants no more is none.
func (k *kept) note(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notes = append(k.notes, err)
}

// Notes are what went wrong with the files of Options.Keep since they were last asked for: a file that is not
// believed, one that can't be written. The graph is whole nevertheless.
func (g *Graph) Notes() []error {
	if g.store == nil {
		return nil
	}
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	list := g.store.notes
	g.store.notes = nil
	return list
}

func (k *kept) path(part string) string {
	return filepath.Join(k.o.Dir, k.o.Name+"."+part+keptSuffix)
}

func (k *kept) keyOf(part string) arrayfile.Key {
	return sha256.Sum256(append(k.key[:len(k.key):len(k.key)], part...))
}

// load opens a file and has take look at it, which says whether it fits. It reports whether it does; the error is the
// context's.
func (k *kept) load(ctx context.Context, part string, take func(*arrayfile.File) error) (bool, error) {
	if k == nil || k.off {
		return false, nil
	}
	f, err := arrayfile.Open(ctx, k.path(part), k.keyOf(part), arrayfile.Options{NoMmap: k.o.NoMmap, Workers: k.workers, Budget: k.budget})
	if err == nil {
		if err = take(f); err == nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.files = append(k.files, f)
			return true, nil
		}
		_ = f.Close() // it was only read
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		k.note("%s is not used: %w", k.path(part), unfit(err))
	}
	return false, nil
}

// unfit says of a file of another key what that means here.
func unfit(err error) error {
	if errors.Is(err, arrayfile.ErrKey) {
		return target.Unsupportedf("it is of another dump, of another state of this one, or of another build of sosgo")
	}
	return err
}

// save writes a file.
func (k *kept) save(ctx context.Context, part string, sections ...arrayfile.Section) {
	if k == nil || k.off {
		return
	}
	err := os.MkdirAll(k.o.Dir, 0o700)
	if err == nil {
		err = arrayfile.Write(ctx, k.path(part), k.keyOf(part), sections)
	}
	if err != nil {
		k.note("the graph of the heap's objects is not kept: %w", err)
	}
}

func array[T any](name string, values []T) arrayfile.Section {
	return arrayfile.Section{Name: name, Data: arrayfile.Bytes(values)}
}

// A taker takes the arrays of a file, until one is missing or of another length than it must have.
type taker struct {
	f   *arrayfile.File
	err error
}

// take is an array of n values; of any number, if n is below 0.
func take[T any](t *taker, name string, n int) []T {
	if t.err != nil {
		return nil
	}
	var values []T
	if values, t.err = arrayfile.Values[T](t.f, name); t.err == nil && n >= 0 && len(values) != n {
		t.err = target.Corruptf("the array %q has %d values, and not %d", name, len(values), n)
	}
	return values
}
