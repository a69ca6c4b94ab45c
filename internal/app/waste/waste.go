package waste

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste/internal/marks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Options selects kinds of waste and rows. The zero value selects everything.
//
// The known collections are List, Dictionary, HashSet, Queue, Stack, SortedList, PriorityQueue, LinkedList and
// SortedSet, ArrayList, Hashtable and the other nongeneric ones, StringBuilder and MemoryStream.
type Options struct {
	Top      int                    `opt:"top" range:"0:" default:"10" help:"rows of each list at most, 0 for all"`
	Kinds    []answer.WasteForm     `opt:"kind" choices:"strings|sparse|zeros|constant|tails|empty-arrays|empty-collections|underfilled|boxes|zero-objects" help:"only this kind of waste; may repeat"`
	Min      uint64                 `opt:"min" kind:"size" help:"least waste of a row; sums have the others"`
	OnlyLive bool                   `opt:"live" help:"only what lives: garbage wastes nothing any more"`
	Live     func(target.Addr) bool // if not nil, reports whether an object is live; dead objects are omitted
	// Statics are the static fields that refer to objects. They count as holders, by name.
	Statics []Static
	// Locals are the references on the stacks of threads. They count as holders too.
	Locals []Local
	Scan   heap.ScanOptions
}

// A Static is a static field that refers to an object.
type Static struct {
	Name answer.Text
	// Slot is the address of the reference, and Object its referent. Table is the object that contains the slot, or 0.
	Slot, Object, Table target.Addr
}

// A Local is a word of a stack, or a register, that refers to an object.
type Local struct {
	Object target.Addr
	// Name is called for listed locals. It returns the thread, frame and variable.
	Name func() answer.Text
}

// Find searches all objects of h for waste; r describes their types. It scans the heap twice. The answer records the
// parts that could not be examined.
func Find(ctx context.Context, h *heap.Heap, r *objects.Reader, o Options) (*answer.Waste, error) {
	f := &finder{h: h, o: o, want: wanted(o.Kinds), plans: newPlans(r), marked: marks.New(), owned: marks.New(), freeEnds: marks.New()}
	defer f.free()
	if err := f.survey(ctx); err != nil {
		return nil, err
	}
	f.disown()
	f.findStatics()
	for _, step := range []func(context.Context) error{f.repeats, f.search, f.report} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return f.a, nil
}

// A finder searches for waste.
type finder struct {
	h     *heap.Heap
	o     Options
	want  [kinds]bool
	plans *plans

	marked, owned  *marks.Set
	freeEnds       *marks.Set // the addresses after free blocks
	strings, boxes *heap.Contents
	found          []finding // by address
	beyond         uint64    // findings without room
	counts         counts

	repeated [kinds]repeatSums
	contents []heap.StringStats     // listed strings, the most wasteful first
	more     uint64                 // strings not listed
	top      map[target.Addr]uint32 // places in contents by the first string
	least    uint64                 // waste of the last of them
	boxTypes map[uint32]*typeSums   // by plan
	held     map[place]holding
	statics  map[target.Addr]uint32 // 1 + their indexes in the options, by slot
	tables   map[target.Addr]bool   // objects that contain their slots
	byKind   map[holderKey][]place

	a *answer.Waste
}

// survey examines all objects.
func (f *finder) survey(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := f.o.Scan.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	f.strings, f.boxes = f.h.NewContents(ctx, jobs, cancel), f.h.NewContents(ctx, 1, cancel)
	f.a = &answer.Waste{Live: f.o.Live != nil}
	total := heap.NewCounter(f.h, nil)
	err := heap.Scan(ctx, f.h, nil, f.o.Scan, func() *survey { return newSurvey(f) }, func(s *survey) error {
		total.Add(s.Counter)
		f.counts.add(&s.counts)
		f.strings.Add(ctx, s.strings)
		f.boxes.Add(ctx, s.boxes)
		room := min(len(s.found), limits.WasteObjects-len(f.found))
		f.found = append(f.found, s.found[:room]...)
		f.beyond += uint64(len(s.found) - room)
		return nil
	})
	f.a.Note(f.strings.Close())
	f.a.Note(f.boxes.Close())
	if err != nil {
		return err
	}
	stats := total.Stats()
	stats.Count = f.counts.objects
	return stats.Note(&f.a.Gaps)
}

// free frees the memory outside of Go's heap.
func (f *finder) free() {
	f.strings.Free()
	f.boxes.Free()
}

// disown removes the arrays of collections from the findings. Their waste counts for the collection.
func (f *finder) disown() {
	owned := f.owned.Marker()
	f.found = slices.DeleteFunc(f.found, func(e finding) bool {
		k := e.kind()
		return (k == sparse || k == zeros || k == constant || k == tails) && owned.Has(e.addr)
	})
	f.owned = nil
}

type repeatSums struct{ objects, wasted uint64 }

// repeats sums up repeated values, and selects the strings to list.
func (f *finder) repeats(ctx context.Context) error {
	err := f.strings.All(ctx, func(s heap.StringStats) {
		wasted := s.Size * (s.Count - 1)
		if wasted == 0 {
			return
		}
		f.repeated[strings].objects += s.Count - 1
		f.repeated[strings].wasted += wasted
		if wasted < f.o.Min {
			f.more++
			return
		}
		f.contents = append(f.contents, s)
		if n := f.o.Top; n > 0 && len(f.contents) >= 4*n+1024 {
			f.cutContents(n)
		}
	})
	if err != nil {
		return err
	}
	f.cutContents(f.o.Top)
	f.top = make(map[target.Addr]uint32, len(f.contents))
	for i := range f.contents {
		s := &f.contents[i]
		f.top[s.First] = uint32(i)
		f.least = s.Size * (s.Count - 1)
	}
	f.boxTypes = map[uint32]*typeSums{}
	return f.boxes.All(ctx, func(s heap.StringStats) {
		if s.Count < 2 {
			return
		}
		o, err := f.h.ObjectAt(s.First)
		if err != nil {
			return // the string was readable before
		}
		wasted := s.Size * (s.Count - 1)
		f.repeated[boxes].objects += s.Count - 1
		f.repeated[boxes].wasted += wasted
		sums := sumsOf(f.boxTypes, f.plans.of(o.Type).id)
		sums.objects += s.Count - 1
		sums.wasted += wasted
		sums.example(s.First, wasted)
	})
}

// cutContents keeps the n most wasteful strings; 0 keeps all.
func (f *finder) cutContents(n int) {
	slices.SortFunc(f.contents, func(a, b heap.StringStats) int {
		return cmp.Or(cmp.Compare(b.Size*(b.Count-1), a.Size*(a.Count-1)), cmp.Compare(a.First, b.First))
	})
	if n > 0 && len(f.contents) > n {
		f.more += uint64(len(f.contents) - n)
		f.contents = f.contents[:n]
	}
}

func (f *finder) search(ctx context.Context) error {
	f.held = map[place]holding{}
	var missing uint64
	var first error
	err := heap.Scan(ctx, f.h, nil, f.o.Scan, func() *holderSearch { return newHolderSearch(f) }, func(s *holderSearch) error {
		f.hold(s)
		missing += s.missing
		first = cmp.Or(first, s.err)
		return nil
	})
	outside := newHolderSearch(f)
	for i := range f.o.Statics {
		if s := &f.o.Statics[i]; s.Table == 0 && outside.marked.Has(s.Object) {
			outside.to(place{root: uint32(i) + 1}, s.Object)
		}
	}
	for i := range f.o.Locals {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if a := f.o.Locals[i].Object; outside.marked.Has(a) {
			outside.to(place{root: uint32(len(f.o.Statics)+i) + 1}, a)
		}
	}
	outside.lookUp()
	outside.flush()
	f.hold(outside)
	if missing > 0 {
		f.a.Note(lacking("%d references, or places of them, can't be read: their holders are missing: %w", missing, first))
	}
	return err
}

func (f *finder) hold(s *holderSearch) {
	for at, h := range s.held {
		sum := f.held[at]
		f.held[at] = holding{sum.references + h.references, sum.wasted + h.wasted}
	}
}

// findStatics prepares to distinguish static fields from elements of their tables.
func (f *finder) findStatics() {
	f.statics, f.tables = map[target.Addr]uint32{}, map[target.Addr]bool{}
	for i := range f.o.Statics {
		if s := &f.o.Statics[i]; s.Table != 0 {
			f.statics[s.Slot], f.tables[s.Table] = uint32(i)+1, true
		}
	}
}

// Thresholds of waste.
const (
	SparseShare = 2  // an array of references is sparse if at least one element in SparseShare is null
	TailShare   = 2  // an array of values has a tail of zeros if that is at least one part in TailShare of it,
	TailBytes   = 64 // and has at least TailBytes
	SameBytes   = 16 // an array of equal values counts from SameBytes bytes
	FillShare   = 2  // a collection is underfilled if at most one place in FillShare is used
)

// A kind is a way to waste memory.
type kind uint8

const (
	strings kind = iota
	sparse
	zeros
	constant
	tails
	emptyArrays
	emptyCollections
	underfilled
	boxes
	zeroObjects
	kinds
)

var kindNames = [kinds]answer.WasteForm{answer.WasteStrings, answer.WasteSparse, answer.WasteZeros, answer.WasteConstant, answer.WasteTails,
	answer.WasteEmptyArrays, answer.WasteEmptyCollections, answer.WasteUnderfilled, answer.WasteBoxes, answer.WasteZeroObjects}

// wanted returns the kinds with the given names, or all kinds for no names.
func wanted(names []answer.WasteForm) (w [kinds]bool) {
	for k := range w {
		w[k] = len(names) == 0 || slices.Contains(names, kindNames[k])
	}
	return w
}
