package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A place is a range of the damaged file.
type place struct {
	off  int64
	size int
	addr uint64 // in the process; 0 if unknown
}

const (
	// placesPerLine limits the recorded places of a line.
	placesPerLine = 500
	// largest is the maximum size in bytes of a read that is recorded as a whole; larger reads are
	// divided.
	largest = 4096
	// longAnswer is the maximum number of bytes that a line may print for the undamaged dump: a
	// command that prints megabytes on request leaves no time for others.
	longAnswer = 2 << 20
)

// A recorder records reads of a process.
type recorder struct {
	target.Memory
	mu   sync.Mutex
	seen map[target.Range]bool
	list []target.Range

	forget map[target.Range]bool // not recorded again
}

func (r *recorder) note(a target.Addr, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := target.RangeAt(a, uint64(min(n, largest)))
	if n > 0 && !r.seen[at] && !r.forget[at] {
		r.seen[at] = true
		r.list = append(r.list, at)
	}
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen, r.list = map[target.Range]bool{}, nil
}

func (r *recorder) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := r.Memory.ReadMemory(p, a)
	r.note(a, n)
	return n, err
}

func (r *recorder) View(a target.Addr, n int) ([]byte, bool) {
	b, ok := r.Memory.View(a, n)
	r.note(a, len(b))
	return b, ok
}

// Span lends at most the rest of a page, so that what is lent is close to what is needed.
func (r *recorder) Span(a target.Addr) []byte {
	b := r.Memory.Span(a)
	b = b[:min(len(b), largest-int(a)%largest)]
	r.note(a, len(b))
	return b
}

// NextStored implements target.SparseMemory.
func (r *recorder) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(r.Memory, a)
}

// A watched source records reads of a file. It lends nothing.
type watched struct {
	target.Source
	mu   sync.Mutex
	last place
	list []place
}

func (w *watched) Bytes(int64, int) []byte { return nil }

func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.Source.ReadAt(p, off)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = place{off: off, size: n}
	if n > 0 && len(w.list) < 1<<16 {
		w.list = append(w.list, w.last)
	}
	return n, err
}

// learn collects values from an undamaged subject, generates lines from them, and records what each
// line reads.
func (s *subject) learn(e *examiner) error {
	random := newRandom(e.seed, sum(s.name))
	e.s, e.current = s, finding{Subject: s.name, Kind: "sound"}
	s.learnPools(random)
	s.generate(random)
	r := &recorder{seen: map[target.Range]bool{}}
	o := s.options(1)
	o.WrapMemory = func(m target.Memory) target.Memory { r.Memory = m; return r }
	w := &watched{Source: target.BytesSource(s.dump)}
	plain, err := sosgo.OpenReaderAt(w, w.Size(), s.options(1))
	if err != nil {
		return err
	}
	defer plain.Close()
	for _, p := range w.list {
		s.heads = append(s.heads, p.off, p.off+int64(p.size)/2)
	}
	if err := s.learnOpening(random, plain, w, r, o); err != nil {
		return err
	}
	// A line may find cached data that the lines before it have read, so the dump is opened again
	// after every linesPerOpening lines.
	wrapped := func() (cli.Dump, error) {
		return process.OpenReaderAt(target.BytesSource(s.dump), int64(len(s.dump)), o)
	}
	var d cli.Dump
	unfit := make([]bool, len(s.lines))
	for i := range s.lines {
		open := wrapped
		if !s.alone() {
			if i%linesPerOpening == 0 {
				if d, err = wrapped(); err != nil {
					return err
				}
			}
			open = func() (cli.Dump, error) { return d, nil }
		}
		r.reset()
		e.dog.begin(e.at(s.lines[i].text))
		answer := s.main(context.Background(), 1, s.lines[i].text, !s.alone(), open)
		e.time(s.lines[i].text)
		e.judge(s.lines[i].text, 1, &answer)
		s.lines[i].sound = answer.sum
		// An address of another kind is valid here.
		usage := answer.code == cli.ExitUsage && strings.Contains(answer.stderr, "usage: ")
		unfit[i] = usage || answer.size > longAnswer
		if usage {
			e.say("unfit: %s: %s", s.lines[i].text, answer.stderr)
		}
		s.lines[i].reads = s.places(random, plain, w, r.list)
		s.lines[i].at = s.pointed(random, plain, w, s.lines[i].text)
	}
	var lines []line
	for i, l := range s.lines {
		if !unfit[i] {
			lines = append(lines, l)
		}
	}
	s.lines = lines
	return nil
}

// learnOpening records what opening reads. A dump that can't be opened answers nothing, so these
// places are damaged less often.
func (s *subject) learnOpening(random *rand.Rand, plain *sosgo.Dump, w *watched, r *recorder, o sosgo.Options) error {
	r.reset()
	d, err := sosgo.OpenReaderAt(target.BytesSource(s.dump), int64(len(s.dump)), o)
	if err != nil {
		return err
	}
	defer d.Close()
	if rt, err := d.Runtime(); err == nil { // dumps without a runtime are damaged too
		_, _ = rt.KnownModules()
	}
	s.opening = s.places(random, plain, w, r.list)
	r.forget = r.seen
	return nil
}

// places converts reads of a process to places in the file.
func (s *subject) places(random *rand.Rand, plain *sosgo.Dump, w *watched, reads []target.Range) []place {
	slices.SortFunc(reads, func(a, b target.Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	if len(reads) > placesPerLine {
		random.Shuffle(len(reads), func(i, j int) { reads[i], reads[j] = reads[j], reads[i] })
		reads = reads[:placesPerLine]
	}
	var out []place
	for _, r := range reads {
		if off, ok := offsetOf(plain, w, r.Start); ok {
			out = append(out, place{off, int(r.Size()), uint64(r.Start)})
		}
	}
	return out
}

// offsetOf returns the file offset of the byte at a, by reading it.
func offsetOf(plain *sosgo.Dump, w *watched, a target.Addr) (int64, bool) {
	var b [1]byte
	w.last = place{off: -1}
	n, err := plain.Target().ReadMemory(b[:], a)
	return w.last.off, n == 1 && err == nil && w.last.off >= 0
}

// pointed returns places in the structures that a line names, and in those that they point to.
func (s *subject) pointed(random *rand.Rand, plain *sosgo.Dump, w *watched, text string) []place {
	var out []place
	for _, word := range strings.Fields(text)[1:] {
		a, err := strconv.ParseUint(word, 16, 64)
		if err != nil || a < 1<<16 {
			continue
		}
		for range 64 {
			at := target.Addr(a)
			for range 1 + random.IntN(3) {
				at += target.Addr(8 * random.IntN(24))
				off, ok := offsetOf(plain, w, at)
				if !ok {
					break
				}
				out = append(out, place{off, 8, uint64(at)})
				var b [8]byte
				if n, _ := plain.Target().ReadMemory(b[:], at); n < 8 {
					break
				}
				at = target.Addr(binary.LittleEndian.Uint64(b[:]) &^ 7)
			}
		}
	}
	return out
}
