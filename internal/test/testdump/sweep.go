package testdump

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// Sweep asks d a question many times. Each time one of the places that the answer was read from is
// missing or overwritten; it tries at most most of them, and a sixteenth of that unless the tests
// are Complete. If a place is missing, the answer is unchanged, or it notes an error that the
// undamaged answer does not have. Every error is typed. Overwritten memory may be believed, but no
// question panics or hangs. cold opens the dump again each time, so that types are read without the
// place, too.
func (d *Dump) Sweep(t *testing.T, most int, cold bool, ask func(v *sosgo.View) (answer any, noted []error, err error)) {
	t.Helper()
	t.Attr("case", d.Name)
	sweep(t, d.Case, d.Options(), most, cold, ask)
}

// SweepLibraries is Sweep for the dump of Libraries.
func SweepLibraries(t *testing.T, most int, cold bool, ask func(v *sosgo.View) (answer any, noted []error, err error)) {
	t.Helper()
	sweep(t, libraries(t), sosgo.Options{Offline: true}, most, cold, ask)
}

func sweep(t *testing.T, c *testcase.Case, o sosgo.Options, most int, cold bool, ask func(v *sosgo.View) (any, []error, error)) {
	t.Helper()
	f := &faulty{seen: map[target.Range]bool{}}
	var open *sosgo.Dump
	reopen := func() *sosgo.Dump {
		f.set(false, target.Range{}, nil)
		o := o
		o.WrapMemory = func(m target.Memory) target.Memory { f.Memory = m; return f }
		open, err := sosgo.Open(c.Plain(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = open.Close() })
		return open
	}
	answer := func(record bool, at target.Range, with []byte) (document []byte, noted []error) {
		if open == nil || cold {
			open = reopen()
		}
		f.set(record, at, with)
		defer f.set(false, target.Range{}, nil)
		v, err := open.View("")
		if err != nil {
			return nil, []error{err}
		}
		a, noted, err := ask(v)
		if err != nil {
			return nil, append(noted, err)
		}
		if document, err = jsonenc.Marshal(a); err != nil {
			t.Fatal(err)
		}
		return document, noted
	}
	if !cold { // the first question reads types
		answer(false, target.Range{}, nil)
	}
	sound, known := answer(true, target.Range{}, nil)
	if len(sound) == 0 || len(f.reads) == 0 {
		t.Fatalf("%d bytes of an answer from %d reads: %v", len(sound), len(f.reads), known)
	}
	slices.SortFunc(f.reads, func(a, b target.Range) int { return cmp.Compare(a.Start, b.Start) })
	garbage := [][]byte{make([]byte, 8), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x03, 0, 0, 0x7f, 0, 0, 0, 0}}
	changed := 0
	part := testcase.Part(t, most, 16)
	for _, n := range []int{part, most, 4 * most, 16 * most} { // if no place of the sample matters, try more
		step := max(1, len(f.reads)/n)
		for i := 0; i < len(f.reads) && (n == part || changed == 0); i += step {
			at := f.reads[i]
			with := []byte(nil)
			if n := i / step; n%2 == 1 {
				n := min(int(at.Size()), 8)
				at, with = target.RangeAt(at.Start, uint64(n)), garbage[i/step/2%3][:n]
			}
			got, noted := answer(false, at, with)
			for _, err := range noted {
				if !Typed(err) {
					t.Errorf("%v with % x: an error of no kind: %v", at, with, err)
				}
			}
			if bytes.Equal(got, sound) {
				continue
			}
			changed++
			if with == nil && !slices.ContainsFunc(noted, func(err error) bool {
				return !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) || k.Error() == err.Error() })
			}) {
				t.Errorf("without %v the answer notes nothing and differs: %s", at, differing(sound, got))
			}
		}
		if changed > 0 {
			return
		}
	}
	t.Error("no place changed the answer")
}

// Asked converts an answer for Sweep.
func Asked[T interface{ Noted() []error }](a T, err error) (answer any, noted []error, _ error) {
	if err != nil {
		return nil, nil, err
	}
	return a, a.Noted(), nil
}

// differing returns the text around the first difference between two documents.
func differing(a, b []byte) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-80)
	return string(a[from:min(len(a), n+120)]) + "\nand now " + string(b[from:min(len(b), n+120)])
}
