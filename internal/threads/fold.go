package threads

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
)

// Bounds of the repetitions that Fold folds.
const (
	foldLongest = 32 // frames of a round
	foldFewest  = 3  // rounds
)

// A Folded is a row of a list with folded repetitions. Only the first round of a repetition is listed. Its first row
// has the length and the number of rounds.
type Folded[T any] struct {
	Row   T
	Cycle int // number of rows of the round that starts here, or 0
	Times int // rounds
}

// Fold folds runs of rows that repeat at least three times, as in a stack that overflowed. same reports whether two
// rows are the same call.
func Fold[T any](rows iter.Seq[T], same func(a, b *T) bool) iter.Seq[Folded[T]] {
	return func(yield func(Folded[T]) bool) {
		f := folder[T]{same: same, yield: yield}
		for row := range rows {
			if !f.add(row) {
				return
			}
		}
		f.flush()
	}
}

type folder[T any] struct {
	same  func(a, b *T) bool
	yield func(Folded[T]) bool
	rows  []T // outside a repetition, the pending rows; otherwise the round, and the start of the next round
	cycle int // number of rows in the round at the start of rows, or 0
	times int
	ended bool
}

// add adds the next row. It reports whether the caller wants more.
func (f *folder[T]) add(row T) bool {
	if f.cycle > 0 {
		if k := len(f.rows) - f.cycle; f.same(&f.rows[k], &row) {
			if f.rows = append(f.rows, row); k == f.cycle-1 {
				f.rows, f.times = f.rows[:f.cycle], f.times+1
			}
			return true
		}
		f.endCycle()
	}
	f.rows = append(f.rows, row)
	f.findCycle()
	if over := len(f.rows) - foldFewest*foldLongest; f.cycle == 0 && over > 0 {
		f.emit(f.rows[:over])
		f.rows = f.rows[:copy(f.rows, f.rows[over:])]
	}
	return !f.ended
}

// findCycle searches for a repetition at the end of rows.
func (f *folder[T]) findCycle() {
	n := len(f.rows)
	for p := 1; p <= foldLongest && foldFewest*p <= n; p++ {
		if !f.repeats(p, (foldFewest-1)*p) {
			continue
		}
		start := n - foldFewest*p
		f.emit(f.rows[:start])
		f.rows = f.rows[:copy(f.rows, f.rows[start:start+p])]
		f.cycle, f.times = p, foldFewest
		return
	}
}

// repeats reports whether each of the last n rows is the same as the row p before it.
func (f *folder[T]) repeats(p, n int) bool {
	for i := len(f.rows) - n; i < len(f.rows); i++ {
		if !f.same(&f.rows[i], &f.rows[i-p]) {
			return false
		}
	}
	return true
}

// endCycle yields the round and keeps the start of the next one.
func (f *folder[T]) endCycle() {
	for i := range f.cycle {
		row := Folded[T]{Row: f.rows[i]}
		if i == 0 {
			row.Cycle, row.Times = f.cycle, f.times
		}
		if !f.ended {
			f.ended = !f.yield(row)
		}
	}
	f.rows = f.rows[:copy(f.rows, f.rows[f.cycle:])]
	f.cycle = 0
}

func (f *folder[T]) emit(rows []T) {
	for _, r := range rows {
		if !f.ended {
			f.ended = !f.yield(Folded[T]{Row: r})
		}
	}
}

func (f *folder[T]) flush() {
	if f.cycle > 0 {
		f.endCycle()
	}
	f.emit(f.rows)
}

// foldFrames folds the repetitions in a stack's frames.
func foldFrames(frames iter.Seq2[*answer.Frame, error]) iter.Seq2[*answer.Frame, error] {
	return func(yield func(*answer.Frame, error) bool) {
		type row struct {
			frame *answer.Frame
			err   error // of missing frames
		}
		rows := func(yield func(row) bool) {
			for f, err := range frames {
				if !yield(row{f, err}) {
					return
				}
			}
		}
		same := func(a, b *row) bool { return a.err == nil && b.err == nil && sameCall(a.frame, b.frame) }
		for f := range Fold(rows, same) {
			if f.Cycle > 0 {
				f.Row.frame.Cycle, f.Row.frame.Repeat = f.Cycle, f.Times
			}
			if !yield(f.Row.frame, f.Row.err) {
				return
			}
		}
	}
}

// sameCall reports whether two frames are the same call in the same method. A frame without an IP is not a call.
func sameCall(a, b *answer.Frame) bool {
	return a.IP.Err() == nil && answer.Is(b.IP, a.IP.Value) && a.Kind == b.Kind && a.Method.Err == nil && b.Method.Err == nil && a.Method.S == b.Method.S
}
