// Package scrub writes dumps without the data of their processes. The dump has the same kind and layout. Texts,
// arrays of numbers and other data that does not explain the process are replaced; objects, types, stacks and
// locks are unchanged. Shrink leaves that memory out instead. The package does not decide which texts are
// secrets; what is replaced follows from types and from what commands read. Start at Write and Shrink.
package scrub

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options configure scrubbing.
type Options struct {
	Numbers  bool // replace numbers that are data of the program, too
	Compress bool // write zstd in frames that can be read one by one
	Progress func(done, total uint64)
}

// Write writes the scrubbed dump of d to w.
func Write(ctx context.Context, d *process.Dump, w io.Writer, o Options) (*answer.Scrubbed, error) {
	out := &answer.Scrubbed{Kinds: []answer.ScrubbedKind{}}
	j, l, err := prepare(ctx, d, o, out)
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	f := d.File()
	src := target.ReaderAtSource(f.Content(), f.Size)
	level := zstd.EncoderLevel(0)
	if o.Compress {
		level = zstd.SpeedDefault
	}
	wr := &writer{src: src, size: f.Size, job: j, level: level, jobs: d.Jobs(), done: o.Progress, fill: func(b []byte, off int64) error { return j.fill(src, l, b, off) }}
	out.Written, err = wr.write(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	out.Size = f.Size
	c := &j.counts
	for _, k := range []answer.ScrubbedKind{
		{Kind: "strings", Bytes: c.Strings.Load()}, {Kind: "character and byte arrays", Bytes: c.Arrays.Load()}, {Kind: "numbers", Bytes: c.Numbers.Load()},
		{Kind: "hash codes", Bytes: c.Codes.Load()}, {Kind: "unused heap memory", Bytes: c.Free.Load()}, {Kind: "native memory", Bytes: c.Native.Load()},
		{Kind: "stacks", Bytes: c.Stacks.Load()}, {Kind: "registers", Bytes: c.Notes.Load()}, {Kind: "command line and environment", Bytes: c.Texts.Load()},
		{Kind: "literals of images", Bytes: c.Literals.Load()}, {Kind: "known secrets and names of users elsewhere", Bytes: c.Secrets.Load()},
	} {
		if k.Bytes > 0 {
			out.Kinds = append(out.Kinds, k)
		}
	}
	return out, nil
}

// prepare decides what stays.
func prepare(ctx context.Context, d *process.Dump, o Options, out *answer.Scrubbed) (*job, *layout, error) {
	f := d.File()
	if f.Content() == nil {
		return nil, nil, target.Unsupportedf("a target that is no dump's")
	}
	literals := map[string]bool{}
	dis, err := newDisguise(literals)
	if err != nil {
		return nil, nil, err
	}
	j := &job{disguise: dis, literals: literals, control: map[uint64]bool{}}
	j.marks = &marks{pages: map[target.Addr]*page{}, isPointer: j.isPointer}
	if f.LeftOut() {
		return nil, nil, target.Unsupportedf("the dump was shrunk: what was left out would be taken for data; scrub the dump before, and shrink what that writes")
	}
	src := target.ReaderAtSource(f.Content(), f.Size)
	e, err := readContainer(f, src)
	if err != nil {
		return nil, nil, err
	}
	mem, _ := memmap.New(src, slices.Clone(e.ranges))
	images := &imageScrubber{job: j, target: f, stored: mem.Ranges()}
	runtimes, err := j.findRuntimes(ctx, d, images, o, out)
	if err != nil {
		return nil, nil, err
	}
	over := func() (*process.Dump, error) { return d.Over(&recorder{Target: f, areas: &j.areas, marks: j.marks}) }
	if err := j.learn(ctx, f, src, mem.Ranges()); err != nil {
		return nil, nil, err
	}
	if err := j.ask(ctx, over, runtimes, structure); err != nil {
		return nil, nil, err
	}
	for _, t := range f.Threads() {
		ip, _ := t.Registers.IP()
		sp, _ := t.Registers.SP()
		j.control[uint64(ip)], j.control[uint64(sp)] = true, true
	}
	edits, err := e.edits(j)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range f.Auxv() {
		if a.Tag == auxName && a.Value != 0 {
			edits = append(edits, j.firstStack(f, target.Addr(a.Value), mem.Ranges())...)
		}
	}
	edits = append(append(edits, j.commandLine(f, mem.Ranges())...), images.edits...)
	return j, newLayout(e.structures, e.ranges, edits, f.Size), nil
}

// readContainer reads the structure of a dump's file.
func readContainer(f *dump.File, src target.Source) (*container, error) {
	p := f.Platform()
	switch _, mini := f.Target.(*minidump.File); {
	case p.Arch.PointerSize() != wordSize:
		return nil, target.Unsupportedf("a dump of a process of 32 bits can't be written again: its stacks would be lost; \"sosgo report\" writes a page in which known secrets are masked")
	case f.Format == dump.FormatELFCore && p.OS == target.OSLinux:
		return readELF(src)
	case mini:
		return readMinidump(src)
	default:
		return nil, target.Unsupportedf("%s of %v: cores of Linux and minidumps can be written again; \"sosgo report\" writes a page in which known secrets are masked", f.Format, p.OS)
	}
}

// findRuntimes opens the runtimes, finds the objects and the literals that change, and collects the areas.
func (j *job) findRuntimes(ctx context.Context, d *process.Dump, images *imageScrubber, o Options, out *answer.Scrubbed) (list []*runtimeOf, err error) {
	j.areas, j.mapped = regionAreas(d.File())
	var secrets []string
	var runtimes, heaps []area
	for i, inst := range d.Runtimes() {
		v, err := d.Process(strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		rt, err := v.Runtime()
		if err != nil {
			out.Note(err)
			continue
		}
		r := &runtimeOf{view: v, rt: rt, module: inst.Module}
		list = append(list, r)
		if r.heap, err = v.Heap(); err != nil {
			out.Note(err)
		} else if reader, err := v.Objects(); err != nil {
			return nil, err
		} else {
			r.planner = newPlanner(reader, r.heap)
			r.planner.numbers = o.Numbers
			r.indexes, err = index(ctx, r.planner, heap.ScanOptions{Jobs: d.Jobs()})
			if ctx.Err() != nil {
				return nil, err
			}
			out.Note(err)
		}
		r.literals(j.literals)
		images.edits = append(images.edits, r.statics(j, images.stored)...)
		runtimes = append(runtimes, r.runtimeAreas()...)
		heaps = append(heaps, r.heapAreas()...)
		known, err := sensitive.SecretValues(ctx, v)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, known...)
	}
	images.images(list)
	for _, r := range list {
		images.native(r)
	}
	j.areas = j.areas.overlay(runtimes).overlay(images.unread).overlay(heaps)
	slices.Sort(secrets)
	secrets = slices.DeleteFunc(slices.Compact(secrets), isName)
	out.Secrets = len(secrets)
	j.secrets = newPatterns(secrets, images.userNames(), j.disguise)
	return list, nil
}

// learn marks the reads of opening the dump.
func (j *job) learn(ctx context.Context, d *dump.File, src target.Source, stored []memmap.Range) error {
	byOffset := slices.Clone(stored)
	slices.SortStableFunc(byOffset, func(a, b memmap.Range) int { return cmp.Compare(a.Offset, b.Offset) })
	r := &recorder{areas: &j.areas, marks: j.marks, alone: true}
	f := &recordingFile{src, func(off int64, b []byte) {
		i, _ := slices.BinarySearchFunc(byOffset, off, func(r memmap.Range, off int64) int {
			if r.Offset+int64(r.Size) <= off {
				return -1
			}
			return 1
		})
		if i < len(byOffset) && byOffset[i].Offset <= off {
			r.note(byOffset[i].Addr+target.Addr(off-byOffset[i].Offset), b, len(b))
		}
	}}
	j.markVersions(d)
	opened, err := dump.OpenReaderAt(f, f.Size(), dump.Options{})
	if err != nil {
		return err
	}
	return errors.Join(ctx.Err(), opened.Close())
}

// ask marks the reads of questions about the runtimes of the dump that open returns.
func (j *job) ask(ctx context.Context, open func() (*process.Dump, error), runtimes []*runtimeOf, questions []question) error {
	for i := range runtimes {
		again, err := open()
		if err != nil {
			return err
		}
		runtimes[i].explore(ctx, again, strconv.Itoa(i))
		exercise(ctx, again, strconv.Itoa(i), questions)
		if err := errors.Join(ctx.Err(), again.Close()); err != nil {
			return err
		}
	}
	return nil
}

// explore reads types and roots like a graph of the heap.
func (r *runtimeOf) explore(ctx context.Context, d *process.Dump, runtime string) {
	v, err := d.Process(runtime)
	if err != nil {
		return
	}
	types, err := v.Objects()
	if err != nil {
		return
	}
	if h, err := v.Heap(); err == nil && r.planner != nil {
		for _, o := range r.planner.samples {
			_, _ = h.TypeName(o)
			for range h.References(o) {
			}
			if t, err := types.Type(o.Type.Addr); err == nil {
				_, _ = t.Leaves() // reads the names of its fields
			}
		}
	}
	reader, err := v.RootReader()
	if err != nil {
		return
	}
	for range reader.All(ctx, graph.RootOptions{Weak: true}) {
	}
	for s := range reader.Statics(ctx) {
		_, _ = s.Name()
	}
	for range reader.Dependents(ctx) {
	}
}

// fill produces the bytes at off of the scrubbed file.
func (j *job) fill(src target.Source, l *layout, b []byte, off int64) error {
	clear(b)
	end := off + int64(len(b))
	for _, s := range l.spansIn(off, end) {
		from, to := max(s.off, off), min(s.off+s.size, end)
		part := b[from-off : to-off]
		if n, err := src.ReadAt(part, from); n < len(part) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if s.memory {
			j.memory(part, s.addr+target.Addr(from-s.off))
		}
	}
	l.edit(b, off)
	return nil
}

// utf16Of returns the UTF-16 code units of a text.
func utf16Of(s string) []uint16 { return utf16.Encode([]rune(s)) }

// Verify opens the written dump and compares threads, and objects by type, with d. A difference is an error.
func Verify(ctx context.Context, d, written *process.Dump) error {
	if a, b := len(d.Target().Threads()), len(written.Target().Threads()); a != b {
		return target.Corruptf("%d threads were written as %d", a, b)
	}
	if a, b := len(d.Runtimes()), len(written.Runtimes()); a != b {
		return target.Corruptf("%d runtimes were written as %d", a, b)
	}
	for i := range d.Runtimes() {
		a, aerr := census(ctx, d, i)
		b, berr := census(ctx, written, i)
		if (aerr == nil) != (berr == nil) {
			return target.Corruptf("the heap of runtime %d can't be counted as before: %w", i, errors.Join(aerr, berr))
		}
		if !bytes.Equal(a, b) {
			return target.Corruptf("the heap of runtime %d has other objects than before", i)
		}
	}
	return ctx.Err()
}

// census counts the objects of a heap by the addresses of their types.
func census(ctx context.Context, d *process.Dump, runtime int) ([]byte, error) {
	v, err := d.Process(strconv.Itoa(runtime))
	if err != nil {
		return nil, err
	}
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	stats, err := h.Stats(ctx, nil, heap.ScanOptions{Jobs: d.Jobs()})
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, t := range stats.Types {
		b = fmt.Appendf(b, "%v %d %d\n", t.Type.Addr, t.Count, t.Size)
	}
	return fmt.Appendf(b, "%d", stats.Corrupt), nil
}
