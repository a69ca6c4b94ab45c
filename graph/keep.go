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

	"github.com/sosgo/sosgo/internal/base/arrayfile"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/target"
)

// A Keep describes files that keep the arrays of a graph for the next start. One file has the rows (17 bytes per
// object). Others have the live objects (1/8), the reversed edges (9) and the dominators (16); they are written when
// first computed. The files are mapped and verified before use: checksums, bounds, and the rows of hundreds of objects.
//
// A file is used only for the same dump, the same build of sosgo and the same roots. Other and damaged files are noted
// (Graph.Notes), rebuilt and replaced. Failed writes are noted too. The graph of an incomplete heap is not kept,
// because its files would have to describe what is missing.
//
// If another program truncates a mapped file, this program crashes, as with the dump itself. Set NoMmap if that may
// happen.
type Keep struct {
	Dir    string // created if needed; not used if another user owns it or may write in it
	Name   string // prefix of the files' names
	Dump   []byte // identifies the current content of the dump
	NoMmap bool   // read the files instead of mapping them
	// Lost, if not nil, returns an error if the dump could no longer be read as it was: the graph is not kept then.
	Lost func() error
}

// keptVersion is the version of the files' content. Their format has its own version.
const keptVersion = 4

// Names of the files.
const (
	keptRows       = "rows"
	keptLive       = "live"
	keptReferrers  = "referrers"
	keptDominators = "dominators"
	keptSuffix     = ".sosgo"
)

// A kept is the set of files of one graph. Its methods are safe for concurrent use.
type kept struct {
	o       *Keep
	key     arrayfile.Key
	workers int
	budget  *offheap.Budget
	off     bool // the heap is incomplete: do not use files

	mu    sync.Mutex
	files []*arrayfile.File
	notes []error
}

// newKept returns the key of the graph that b will build.
func newKept(b *builder) *kept {
	h := sha256.New()
	fmt.Fprintf(h, "sosgo graph %d %s %d %x\n", keptVersion, build(), len(b.o.Keep.Dump), b.o.Keep.Dump)
	heapKey(h, b)
	rootsKey(h, b.r)
	k := &kept{o: b.o.Keep, key: arrayfile.Key(h.Sum(nil)), workers: b.o.Jobs, budget: b.budget}
	if err := outfile.PrivateDir(k.o.Dir); err != nil {
		k.off = true
		k.note("the graph of the heap's objects is not kept: %w", err)
	}
	return k
}

// build identifies this build of sosgo. It is empty if that is unknown.
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

// heapKey writes what identifies the places of a heap's objects.
func heapKey(w hash.Hash, b *builder) {
	fmt.Fprintln(w, b.h.Runtime().WellKnown().Free, b.h.Regions(), b.h.Server(), b.h.Stored(), b.h.AllocContexts())
	segments := b.h.Segments()
	for i := range segments {
		s := &segments[i]
		fmt.Fprintln(w, s.Addr, s.Kind, s.Objects, s.Gen0, s.Gen1, s.Gen2)
	}
}

// rootsKey writes everything that a graph keeps from its roots.
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
		_ = f.Close() // read only
	}
	k.files = nil
}

// note records an error for Graph.Notes, unless it reports that the caller stopped.
func (k *kept) note(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notes = append(k.notes, err)
}

// Notes returns the errors of the files of Options.Keep since the last call: a rejected file, a failed write. The graph
// is complete nevertheless.
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

func (k *kept) path(part string) string { return filepath.Join(k.o.Dir, k.o.Name+"."+part+keptSuffix) }

func (k *kept) keyOf(part string) arrayfile.Key {
	return sha256.Sum256(append(k.key[:len(k.key):len(k.key)], part...))
}

// load opens a file and passes it to take, which may reject it. It reports whether the file is used. It fails only with
// the error of ctx.
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
		_ = f.Close() // read only
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		k.note("%s is not used: %w", k.path(part), keyError(err))
	}
	return false, nil
}

// keyError describes the error for a file with another key.
func keyError(err error) error {
	if errors.Is(err, arrayfile.ErrKey) {
		return target.Unsupportedf("it belongs to another dump, another state of this dump, or another build of sosgo")
	}
	return err
}

func (k *kept) save(ctx context.Context, part string, sections ...arrayfile.Section) {
	if k == nil || k.off {
		return
	}
	var err error
	if k.o.Lost != nil {
		err = k.o.Lost()
	}
	if err == nil {
		err = os.MkdirAll(k.o.Dir, 0o700)
	}
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

// A taker takes the arrays of a file. It records an error if an array is missing or has the wrong length.
type taker struct {
	f   *arrayfile.File
	err error
}

// take returns an array of n values, or of any length if n is negative.
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
