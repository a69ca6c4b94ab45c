package heap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/absent"
	"github.com/sosgo/sosgo/target"
)

// The counters that a collector keeps of its mechanisms (gcinterface.dac.h: DAC_MAX_GLOBAL_GC_MECHANISMS_COUNT and the enums
// gc_global_mechanism_p and gc_heap_compact_reason of gcpriv.h): an array of words for each, in this order.
var (
	gcMechanisms = []string{"concurrent", "compaction", "promotion", "demotion", "card bundles", "elevation"}
	gcCompaction = []string{"low ephemeral", "high fragmentation", "no gaps", "large objects forced", "last collection before out of memory",
		"induced compacting", "fragmented generation 0", "high memory load", "high memory load and fragmentation",
		"very high memory load and fragmentation", "no-GC mode"}
)

// backgroundStates are the values of enum c_gc_state (gcpriv.h).
var backgroundStates = []string{"marking", "planning", "none"}

// unpublished are facts that the collector keeps where no layout has a place for them, in any version.
var unpublished = []string{
	"allocation budgets and desired allocation of each generation",
	"reason, generation and phase of a blocking collection",
	"numbers of collections by generation",
	"settings that the collector computed itself",
}

// DescribeGC describes the state of the collector and its counters. It needs less of the dump than Open: the heap itself may be missing.
func DescribeGC(rt *dac.Runtime, t target.Target) (*answer.GC, error) {
	rt = dac.OrNone(rt)
	h := &Heap{rt: rt, mem: t}
	v, err := h.readVars()
	if err != nil {
		return nil, fmt.Errorf("GC heap: %w", err)
	}
	out := &answer.GC{Settings: []answer.GCSetting{}, Recorded: []answer.GCRecord{}, Generations: []answer.GenerationSize{},
		Threads: []answer.ThreadAllocated{}, Absent: []answer.AbsentFact{},
		Server: answer.Known(v.server), Regions: answer.Known(v.genOffsets[genAllocationStart] < 0)}
	out.Pinned.Err, out.AsyncPinned.Err = errUnread, errUnread
	h.readMode(v)
	v.describeMode(h, out)
	places, err := h.subHeapPlaces(v)
	if err != nil {
		out.Heaps.Err = err
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
	v.counters(out)
	for _, what := range unpublished {
		out.Lacks(what, target.Unsupportedf("no layout has its place"))
	}
	return out, nil
}

// describeMode adds what the collector was doing and whose code it is.
func (v *vars) describeMode(h *Heap, out *answer.GC) {
	out.DATAS.Err = target.Unsupportedf("the collector does not publish it")
	if h.datas != nil && v.server {
		out.DATAS = answer.Known(*h.datas)
	}
	changing, err := v.addr("StructuresInvalidCount")
	if err == nil && changing == 0 {
		err = target.Unsupportedf("the collector does not publish it")
	}
	var n uint32
	if err == nil {
		n, err = target.Uint32(v.r, changing)
	}
	out.State.InCollection = answer.Of(n != 0, err)
	out.Lacks("whether a collection was changing the heap", err)
	background, err := v.background()
	out.State.Background = answer.Text{S: background, Err: err}
	out.Lacks("state of a background collection", err)
	// The variables are in the library of the collector.
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

// background returns what a background collection was doing.
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

// counters adds what the collector counted. A server GC keeps counters in each heap, at places that it does not publish.
func (v *vars) counters(out *answer.GC) {
	for _, c := range []struct {
		what, field string
		names       []string
		into        *[]answer.GCCount
	}{{"collections by mechanism", "GlobalMechanisms", gcMechanisms, &out.Mechanisms}, {"compactions by reason", "CompactReasons", gcCompaction, &out.Compactions}} {
		list, err := v.counts(c.field, c.names)
		*c.into = list
		out.Lacks(c.what, err)
		for _, n := range list {
			out.Saw(n.Count)
		}
	}
}

// counts reads an array of words that a variable of GcDacVars leads to.
func (v *vars) counts(field string, names []string) ([]answer.GCCount, error) {
	if v.at == 0 {
		return nil, target.Unsupportedf("the contract of the collector does not have them")
	}
	at, err := v.addr(field)
	if err == nil && at == 0 {
		err = target.Unsupportedf("this collector does not publish them")
	}
	if err != nil {
		return nil, err
	}
	b, err := target.Bytes(v.r, at, 8*len(names))
	if err != nil {
		return nil, err
	}
	list := make([]answer.GCCount, len(names))
	for i, name := range names {
		if list[i] = (answer.GCCount{Name: name, Count: le64(b[8*i:])}); list[i].Count > maxCollections {
			return nil, target.Corruptf("%d collections of kind %q at %#x", list[i].Count, name, uint64(at))
		}
	}
	return list, nil
}

// maxCollections is more than any process can do: one each microsecond for 30 years.
const maxCollections = 1 << 50

// DescribeSizes adds the sizes of the generations of all heaps together, and counts the handles that pin objects. The error is ctx's.
func (h *Heap) DescribeSizes(ctx context.Context, out *answer.GC, o ScanOptions) error {
	if h == nil || out == nil {
		return errNoHeap
	}
	ctx = absent.Context(ctx)
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
