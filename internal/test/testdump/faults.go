package testdump

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// Answers are the answers of a runtime, by the names of the questions.
type Answers struct {
	values map[string]string
	errs   []error
}

// Add adds an answer. err is the error that replaces it or reports that it is incomplete.
func (a *Answers) Add(name string, v any, err error) {
	if err != nil {
		a.errs = append(a.errs, fmt.Errorf("%s: %w", name, err))
		return
	}
	a.values[name] = fmt.Sprintf("%+v", v)
}

// Without opens the dump without the memory of a range.
func (d *Dump) Without(t testing.TB, at target.Range) *sosgo.Dump {
	t.Helper()
	return FileWithout(t, d.Plain(), d.Options(), at)
}

// FileWithout is Without for a dump that is not canned.
func FileWithout(t testing.TB, path string, o sosgo.Options, at target.Range) *sosgo.Dump {
	t.Helper()
	f := &faulty{at: at}
	o.WrapMemory = func(m target.Memory) target.Memory { f.Memory = m; return f }
	out, err := sosgo.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	return out
}

// Faults asks a canned dump's runtime the same questions many times. Each time one of the places
// that the answers were read from is missing or overwritten; it tries at most most of them, and a
// sixteenth of that unless the tests are Complete. If a place is missing, each answer is unchanged
// or replaced by an error. Each error is typed, or one of known. Overwritten memory may be
// believed, but no question panics or hangs.
func Faults(t *testing.T, name string, most int, ask func(rt *dac.Runtime, a *Answers), known ...error) {
	t.Helper()
	t.Attr("case", name)
	f := &faulty{seen: map[target.Range]bool{}}
	o := Open(t, name).Options()
	o.WrapMemory = func(m target.Memory) target.Memory { f.Memory = m; return f }
	d, err := sosgo.Open(Open(t, name).Plain(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	inst := d.Runtimes()[0]
	answers := func(record bool, at target.Range, with []byte) Answers {
		f.set(false, target.Range{}, nil)
		rt, err := inst.Open()
		if err != nil {
			t.Fatal(err)
		}
		f.set(record, at, with)
		defer f.set(false, target.Range{}, nil)
		a := Answers{values: map[string]string{}}
		ask(rt, &a)
		for _, err := range a.errs {
			if !Typed(err) && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
				t.Errorf("%v with % x: an error of no kind: %v", at, with, err)
			}
		}
		return a
	}
	sound := answers(true, target.Range{}, nil)
	if len(sound.values) == 0 || len(f.reads) == 0 {
		t.Fatalf("%d answers from %d reads", len(sound.values), len(f.reads))
	}
	slices.SortFunc(f.reads, func(a, b target.Range) int { return cmp.Compare(a.Start, b.Start) })
	step := max(1, len(f.reads)/testcase.Part(t, most, 16))
	for i := 0; i < len(f.reads); i += step {
		at := f.reads[i]
		compare(t, at, sound, answers(false, at, nil))
		n := min(int(at.Size()), 8)
		garbage := [][]byte{make([]byte, n), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x03, 0, 0, 0x7f, 0, 0, 0, 0}}[i/step%3]
		answers(false, target.RangeAt(at.Start, uint64(n)), garbage[:n])
	}
}

// compare compares the answers without a place with the undamaged ones.
func compare(t *testing.T, at target.Range, sound, got Answers) {
	t.Helper()
	for name, v := range got.values {
		if want, ok := sound.values[name]; !ok && len(got.errs) == 0 || ok && v != want {
			t.Errorf("without %v, %s:\n%s\nand not\n%s", at, name, v, want)
		}
	}
	if len(got.values) < len(sound.values) && !got.hasMoreThan(sound) {
		t.Errorf("without %v: %d answers of %d, and no word", at, len(got.values), len(sound.values))
	}
}

// hasMoreThan reports whether a has an error that b does not have.
func (a *Answers) hasMoreThan(b Answers) bool {
	known := map[string]bool{}
	for _, err := range b.errs {
		known[err.Error()] = true
	}
	return slices.ContainsFunc(a.errs, func(err error) bool { return !known[err.Error()] })
}

// faulty is a memory with a range that is missing or overwritten. It records reads.
type faulty struct {
	target.Memory
	mu     sync.Mutex
	record bool
	at     target.Range
	with   []byte // nil if missing
	seen   map[target.Range]bool
	reads  []target.Range
}

func (f *faulty) set(record bool, at target.Range, with []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record, f.at, f.with = record, at, with
}

// touches records a read and returns the bad range if the read overlaps it.
func (f *faulty) touches(a target.Addr, n int) (bad target.Range, with []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := target.RangeAt(a, uint64(n))
	if f.record && !f.seen[r] {
		f.seen[r] = true
		f.reads = append(f.reads, r)
	}
	return f.at, f.with, r.Start < f.at.End && f.at.Start < r.End
}

func (f *faulty) ReadMemory(p []byte, a target.Addr) (int, error) {
	bad, with, ok := f.touches(a, len(p))
	if !ok {
		return f.Memory.ReadMemory(p, a)
	}
	if with == nil {
		n := max(0, int(int64(bad.Start)-int64(a)))
		if n, err := f.Memory.ReadMemory(p[:n], a); err != nil {
			return n, err
		}
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	n, err := f.Memory.ReadMemory(p, a)
	for i := range p[:n] {
		if at := a + target.Addr(i); bad.Start <= at && at < bad.End {
			p[i] = with[at-bad.Start]
		}
	}
	return n, err
}

func (f *faulty) View(a target.Addr, n int) ([]byte, bool) {
	if _, _, ok := f.touches(a, n); ok {
		return nil, false
	}
	return f.Memory.View(a, n)
}

func (f *faulty) Span(a target.Addr) []byte {
	s := f.Memory.Span(a)
	bad, _, _ := f.touches(a, min(len(s), 8))
	switch {
	case bad.Start <= a && a < bad.End:
		return nil
	case a < bad.Start && uint64(bad.Start-a) < uint64(len(s)):
		return s[:bad.Start-a]
	}
	return s
}

// NextStored implements target.SparseMemory. Without it, every hole would be searched page by page.
func (f *faulty) NextStored(a target.Addr) (target.Addr, bool) {
	next, ok := target.NextStored(f.Memory, a)
	if bad, with, hit := f.touches(next, 1); ok && hit && with == nil {
		return target.NextStored(f.Memory, bad.End)
	}
	return next, ok
}
