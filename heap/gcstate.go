package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// Counters of the collector's mechanisms (gcinterface.dac.h: DAC_MAX_GLOBAL_GC_MECHANISMS_COUNT and the enums
// gc_global_mechanism_p and gc_heap_compact_reason of gcpriv.h): an array of words each, in this order.
var (
	gcMechanisms = []string{"concurrent", "compaction", "promotion", "demotion", "card bundles", "elevation"}
	gcCompaction = []string{"low ephemeral", "high fragmentation", "no gaps", "large objects forced", "last collection before out of memory",
		"induced compacting", "fragmented generation 0", "high memory load", "high memory load and fragmentation",
		"very high memory load and fragmentation", "no-GC mode"}
)

// backgroundStates names the values of enum c_gc_state (gcpriv.h).
var backgroundStates = []string{"marking", "planning", "none"}

// backgroundSweeps is the state "planning": a background collection has found the dead objects of generation 2, freed their sync blocks, and makes
// free space of them while the program runs. Those that it has not reached yet still look like objects, and refer to what is gone.
const backgroundSweeps = 1

// unpublished lists facts that no layout of any version locates.
var unpublished = []string{
	"allocation budgets and desired allocation of each generation",
	"reason, generation and phase of a blocking collection",
	"numbers of collections by generation",
	"settings that the collector computed itself",
}

// DescribeGC describes the state of the collector and its counters. It needs less of the dump than Open: the heap itself may be missing.
func DescribeGC(rt *dac.Runtime, t target.Target) (*answer.GC, error) {
	h := &Heap{rt: rt, mem: t}
	v, err := h.readVars()
	if err != nil {
		return nil, fmt.Errorf("GC heap: %w", err)
	}
	out := &answer.GC{Settings: []answer.GCSetting{}, Recorded: []answer.GCRecord{}, Generations: []answer.GenerationSize{},
		Threads: []answer.ThreadAllocated{}, Absent: []answer.AbsentFact{},
		Server: answer.Known(v.server), Regions: answer.Known(v.genOffsets[genAllocationStart] < 0)}
	out.Pinned, out.AsyncPinned = answer.Missing[uint64](answer.ErrUnread), answer.Missing[uint64](answer.ErrUnread)
	h.readMode(v)
	v.describeMode(h, out)
	places, err := h.subHeapPlaces(v)
	if err != nil {
		out.Heaps = answer.Missing[int64](err)
		out.Lacks("number of heaps", err)
	} else {
		out.Heaps = answer.Known(int64(len(places)))
		for i := range places {
			h.subHeaps = append(h.subHeaps, places[i].SubHeap)
		}
		oom := h.OutOfMemory()
		out.Failures = oom.Failures
		out.NoteAll(oom.Noted())
	}
	v.counters(out, places)
	for _, what := range unpublished {
		out.Lacks(what, target.Unsupportedf("no layout has its place"))
	}
	return out, nil
}

// describeMode adds the state of the collector and its module.
func (v *vars) describeMode(h *Heap, out *answer.GC) {
	out.DATAS = answer.Missing[uint64](target.Unsupportedf("the collector does not publish it"))
	if h.datas != nil && v.server {
		out.DATAS = answer.Known(*h.datas)
	}
	changing, _ := v.addr("StructuresInvalidCount") // collecting has the error
	inCollection, err := h.collecting(v)
	out.State.InCollection = answer.Of(inCollection, err)
	out.Lacks("whether a collection was changing the heap", err)
	background, err := v.background()
	out.State.Background = answer.Text{S: background, Err: err}
	out.Lacks("state of a background collection", err)
	// The variables are in the collector's library.
	at := changing
	if table, err := v.addr("GenerationTable"); at == 0 && err == nil {
		at = table
	}
	if m := target.ModuleAt(h.Runtime().Target().Modules(), at); at != 0 && m != nil {
		out.Library.S = m.Path
	} else {
		out.Library.Err = fmt.Errorf("library of the collector: %w", target.ErrNotInDump)
	}
}

// background returns the state of a background collection.
func (v *vars) background() (string, error) {
	at, err := v.addr("CurrentGCState")
	if err == nil && at == 0 {
		err = target.Unsupportedf("the collector does not publish it")
	}
	if err != nil {
		return "", err
	}
	state, err := target.Uint32(v.r, at)
	if err != nil {
		return "", err
	}
	if int64(state) >= int64(len(backgroundStates)) {
		return "", target.Corruptf("state %d of a background collection at %#x", state, uint64(at))
	}
	return backgroundStates[state], nil
}

// errUnpublished is the error for counters that a collector does not publish, or was built without.
var errUnpublished = target.Unsupportedf("this collector does not publish them")

// counters adds the collector's counters: its mechanisms once, and the compactions of each heap. All heaps of a
// server GC count the same collections.
func (v *vars) counters(out *answer.GC, places []subHeapPlace) {
	mechanisms, err := v.addr("GlobalMechanisms")
	if err == nil {
		out.Mechanisms, err = v.counts("GlobalMechanismsLength", gcMechanisms, mechanisms)
	}
	out.Lacks("collections by mechanism", v.published(err))
	reasons := make([]target.Addr, len(places))
	err = out.Heaps.Err()
	for i := range places {
		if err == nil {
			reasons[i], err = places[i].address("CompactReasons")
		}
	}
	if err == nil {
		out.Compactions, err = v.counts("CompactReasonsLength", gcCompaction, reasons...)
	}
	out.Lacks("compactions by reason", v.published(err))
	for _, n := range slices.Concat(out.Mechanisms, out.Compactions) {
		out.Saw(n.Count)
	}
}

// published returns err, or errUnpublished if a contract lacks the counters.
func (v *vars) published(err error) error {
	if _, lacks := errors.AsType[*layout.Error](err); lacks && v.at == 0 {
		return errUnpublished
	}
	return err
}

// counts reads arrays of counters, one counter for each name, and returns the largest value of each. A contract
// has their length under the name length.
func (v *vars) counts(length string, names []string, arrays ...target.Addr) ([]answer.GCCount, error) {
	if n, err := v.l.Uint(length); v.at == 0 && (err != nil || n != uint64(len(names))) {
		if err == nil {
			err = target.Unsupportedf("the collector counts %d kinds, and sosgo knows %d", n, len(names))
		}
		return nil, err
	}
	list := make([]answer.GCCount, len(names))
	for _, at := range arrays {
		if at == 0 {
			return nil, errUnpublished
		}
		b, err := target.Bytes(v.r, at, 8*len(names))
		if err != nil {
			return nil, err
		}
		for i, name := range names {
			n := le64(b[8*i:])
			if n > maxCollections {
				return nil, target.Corruptf("%d collections of kind %q at %#x", n, name, uint64(at))
			}
			list[i] = answer.GCCount{Name: name, Count: max(n, list[i].Count)}
		}
	}
	return list, nil
}

// maxCollections exceeds the collections of any process: one each microsecond for 30 years.
const maxCollections = 1 << 50

// DescribeSizes adds the sizes of the generations of all heaps together, and counts the handles that pin
// objects. It returns ctx's error.
func (h *Heap) DescribeSizes(ctx context.Context, out *answer.GC, o ScanOptions) error {
	if err := h.countPinned(ctx, out); err != nil {
		return err
	}
	sizes, err := h.Sizes(ctx, o)
	if err != nil {
		return err
	}
	out.NoteAll(sizes.Noted())
	for i := range sizes.Heaps {
		for _, g := range sizes.Heaps[i].Generations {
			at := slices.IndexFunc(out.Generations, func(s answer.GenerationSize) bool { return s.Generation == g.Generation })
			if at < 0 {
				out.Generations = append(out.Generations, g)
				continue
			}
			sum := &out.Generations[at]
			sum.Allocated, sum.Committed, sum.Live, sum.Free, sum.Shared = sum.Allocated+g.Allocated, sum.Committed+g.Committed, sum.Live+g.Live, sum.Free+g.Free, sum.Shared+g.Shared
			sum.Incomplete, sum.Partial = sum.Incomplete || g.Incomplete, sum.Partial || g.Partial
			sum.Err, sum.Unread = cmp.Or(sum.Err, g.Err), cmp.Or(sum.Unread, g.Unread)
		}
	}
	return nil
}

// countPinned counts the handles that pin objects.
func (h *Heap) countPinned(ctx context.Context, out *answer.GC) error {
	for _, k := range []struct {
		kind HandleType
		into *answer.Maybe[uint64]
		what string
	}{{HandlePinned, &out.Pinned, "handles that pin objects"}, {HandleAsyncPinned, &out.AsyncPinned, "handles that pin the buffers of overlapped I/O"}} {
		var n uint64
		var failed error
		for e, err := range h.Handles() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = cmp.Or(failed, err)
			if e.Object != 0 && e.Type == k.kind {
				n++
			}
		}
		*k.into = answer.Of(n, failed)
		out.Lacks(k.what, failed)
	}
	return nil
}
