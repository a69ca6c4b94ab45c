package main

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/target"
)

// A job makes a slice of one dump.
type job struct {
	dump     string
	modules  []string
	commands []string
	lean     bool
	chosen   bool   // the commands were selected for this dump
	grain    uint64 // size in bytes of the units that are kept or omitted
}

// A container is the format of the dump's file.
type container interface {
	// ranges returns the stored ranges of memory.
	ranges() []memmap.Range
	// build returns the file with other memory, given as disjoint pieces in any order.
	build(pieces []piece) ([]byte, error)
}

// versionPrefix is the start of the version constant in ELF runtimes.
const versionPrefix = "@(#)Version "

// moreThanWanted are commands that print more for the slice, because it contains the version
// constant of an ELF runtime.
var moreThanWanted = []string{"modules -v", "lm -v", "modules -v -n libcoreclr.so"}

// smallRange is the maximum size in bytes of stored ranges that keep their zero pages: the stored
// size of a loader heap shows how much of it is used.
const smallRange = 1 << 20

// A piece is memory in the slice.
type piece struct {
	addr uint64
	data []byte
}

func (p *piece) end() uint64 { return p.addr + uint64(len(p.data)) }

// A recorded dump is the dump of a job, opened so that its reads are recorded.
type recorded struct {
	*job
	file    *mmapfile.File
	raw     []byte
	box     container
	offsets *reads // reads of the file
	addrs   *reads // reads of the process
	large   *touchedPages
}

func (j *job) record() (*recorded, error) {
	file, err := mmapfile.Open(j.dump, false)
	if err != nil {
		return nil, err
	}
	r := &recorded{job: j, file: file, raw: file.Bytes(0, int(file.Size())), offsets: newReads(j.grain), addrs: newReads(j.grain), large: &touchedPages{}}
	if r.box, err = openContainer(r.raw); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// open opens the dump. wrapFile, if not nil, wraps the module files.
func (r *recorded) open(wrapFile func(*target.Module, target.Memory) target.Memory) (*sosgo.Dump, error) {
	return sosgo.OpenReaderAt(recordingFile{target.BytesSource(r.raw), r.offsets, r.watched()}, r.file.Size(), sosgo.Options{
		Modules: r.modules, NoLocalFiles: true, Jobs: 1,
		WrapMemory: func(m target.Memory) target.Memory { return recordingMemory{m, r.addrs.note, r.large} },
		WrapFile:   wrapFile,
	})
}

// watched returns the size of the largest lent parts of the file that are recorded when lent: often
// the rest of a range is lent to code that needs a few bytes.
func (r *recorded) watched() int {
	if r.grain < pageSize {
		return pageSize
	}
	return largeView
}

// noteLarge records the touched pages of large lent parts.
func (r *recorded) noteLarge() error {
	return r.large.touched(func(at uint64, n int) { r.addrs.parts.note(at, uint64(n)) })
}

func (j *job) run(ctx context.Context) ([]byte, error) {
	r, err := j.record()
	if err != nil {
		return nil, err
	}
	defer r.file.Close()
	files := newFileReads()
	open := func() (*sosgo.Dump, error) { return r.open(files.wrap) }
	want := answers(ctx, open, j.commands)
	wide, err := open()
	if err != nil {
		return nil, err
	}
	defer wide.Close()
	j.walk(wide)
	if err := r.keepHeap(wide); err != nil {
		return nil, err
	}
	if err := r.noteLarge(); err != nil {
		return nil, err
	}
	j.keepImages(wide, r.addrs)
	pieces := j.choose(wide, r.box, r.offsets, r.addrs)
	more, err := files.pieces(wide, pieces)
	if err != nil {
		return nil, err
	}
	small, err := r.box.build(append(pieces, more...))
	if err != nil {
		return nil, err
	}
	if err := j.verify(ctx, small, want); err != nil {
		return small, err
	}
	return small, j.anonymous(ctx, small, foldersOf(wide))
}

// walk reads what every analysis needs: identities of images and, unless the slice is lean, all
// metadata of managed modules.
func (j *job) walk(d *sosgo.Dump) {
	for _, m := range d.Target().Modules() {
		if img, err := image.OpenMemory(d.Memory(), &m); err == nil {
			// Missing parts need not be kept.
			_, _ = img.BuildID()
			_, _ = img.CodeViews()
		}
	}
	for m := range managed(d) {
		src := m.MetadataSource()
		for a := src.Addr; !j.lean && src.Addr != 0 && uint64(a-src.Addr) < src.Size; a = (a/pageSize + 1) * pageSize {
			_, _ = d.Memory().ReadMemory(make([]byte, pageSize), a&^(pageSize-1))
		}
		if img, err := m.PEImage(); err == nil {
			_, _ = img.CodeViews()
			_, _ = img.MVID()
			_, _ = img.ReadyToRun()
		}
	}
}

// versionConstant returns the version string of an ELF runtime. It is among the variables, which no
// file supplies, in a page that dumps often omit, but nothing writes to it.
func versionConstant(d *sosgo.Dump, inst *dac.Instance) (piece, bool) {
	var text target.Addr
	for a := inst.Module.Base; inst.Module.Contains(a) && text == 0; a += pageSize {
		if src := d.MemorySource(a); src != "" && src != image.SourceDump {
			text = a
		}
	}
	raw, err := os.ReadFile(d.MemorySource(text))
	if err != nil {
		return piece{}, false
	}
	img, err := image.NewBytes(raw, image.Flat)
	if err != nil {
		return piece{}, false
	}
	for _, s := range img.Sections() {
		b := raw[s.Offset : s.Offset+s.FileSize]
		for i := bytes.Index(b, []byte(versionPrefix)); i >= 0; {
			n := bytes.IndexByte(b[i:], 0)
			if c := b[i+len(versionPrefix)]; s.Prot&target.ProtWrite != 0 && c >= '0' && c <= '9' {
				return piece{uint64(inst.Module.Base) + uint64(s.RVA) + uint64(i), b[i : i+n+1]}, true
			}
			next := bytes.Index(b[i+1:], []byte(versionPrefix))
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return piece{}, false
}

// managed iterates over the modules of all runtimes.
func managed(d *sosgo.Dump) iter.Seq[*dac.Module] {
	return func(yield func(*dac.Module) bool) {
		for _, inst := range d.Runtimes() {
			rt, err := inst.Open()
			if err != nil {
				continue // a NativeAOT runtime has no modules
			}
			modules, _ := rt.KnownModules()
			for _, m := range modules {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// keepHeap adds the objects of the GC heap and its finalizer queues if commands were selected; otherwise the commands read
// all objects.
func (r *recorded) keepHeap(d *sosgo.Dump) error {
	if !r.chosen {
		return nil
	}
	h, err := d.Heap()
	if err != nil {
		return err
	}
	keep := func(part target.Range) { r.addrs.parts.note(uint64(part.Start), uint64(part.End-part.Start)) }
	for _, s := range h.Segments() {
		keep(target.Range{Start: s.Objects.Start, End: s.Objects.End})
	}
	for i := range h.SubHeaps() {
		if q, err := h.FinalizerQueue(i); err == nil {
			keep(q.Finalizable())
			keep(q.FReachable())
		}
	}
	return nil
}

// keepImages adds the first page of every image, and whole pages of managed images that were read,
// mainly metadata.
func (j *job) keepImages(d *sosgo.Dump, addrs *reads) {
	for _, m := range d.Target().Modules() {
		addrs.parts.note(uint64(m.Base), 1)
	}
	for m := range managed(d) {
		at, err := m.Image()
		for p := uint64(at.Start) / j.grain; err == nil && p*j.grain < uint64(at.End); p++ {
			if addrs.pages.pages[p] {
				addrs.parts.pages[p] = true
			}
		}
	}
}

func openContainer(raw []byte) (container, error) {
	if elfcore.Sniff(raw) {
		return openELF(raw)
	}
	return openMinidump(raw)
}

func compress(b []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(64<<20),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	return enc.EncodeAll(b, nil), nil
}
