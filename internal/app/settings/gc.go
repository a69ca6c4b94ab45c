package settings

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
)

// gcNames are the GC settings with different names as variable and property (gcconfig.h). Others have the same name in
// both, after gc or GC and System.GC.
var gcNames = []struct{ variable, property string }{
	{"gcServer", "System.GC.Server"}, {"gcConcurrent", "System.GC.Concurrent"}, {"GCHighMemPercent", "System.GC.HighMemoryPercent"},
	{"GCgen0size", "System.GC.Gen0Size"}, {"GCgen1size", "System.GC.Gen1Size"},
}

// propertyPrefix is the prefix of the GC's properties.
const propertyPrefix = "System.GC."

// settingOfVariable returns the GC setting of a variable without its prefix. ok is false for other variables.
func settingOfVariable(name string) (setting string, ok bool) {
	for _, n := range gcNames {
		if strings.EqualFold(n.variable, name) {
			return strings.TrimPrefix(n.property, propertyPrefix), true
		}
	}
	if len(name) > 2 && strings.EqualFold(name[:2], "gc") {
		return name[2:], true
	}
	return "", false
}

// GCSettings lists the GC settings from environment variables, each NAME=VALUE, and AppContext properties, by name.
func GCSettings(environment []string, properties []answer.NamedValue) []answer.GCSetting {
	out := []answer.GCSetting{}
	rank := map[string]int{} // by setting in lower case: the rank of its value
	ranks := []int{}
	add := func(s answer.GCSetting, r int) {
		key := strings.ToLower(s.Name)
		if best, ok := rank[key]; !ok || r < best {
			rank[key] = r
		}
		out, ranks = append(out, s), append(ranks, r)
	}
	for _, v := range variables(environment) {
		if rest, r, ok := runtimeSetting(v.name); ok {
			if name, ok := settingOfVariable(rest); ok {
				add(answer.GCSetting{Name: name, Value: v.value, Source: answer.GCSettingEnvironment, Key: v.name}, r)
			}
		}
	}
	for _, p := range properties {
		if name, ok := strings.CutPrefix(p.Name, propertyPrefix); ok && name != "" {
			add(answer.GCSetting{Name: name, Value: p.Value.String(), Source: answer.GCSettingRuntimeConfig, Key: p.Name}, len(runtimePrefixes))
		}
	}
	for i := range out {
		out[i].Unused = ranks[i] > rank[strings.ToLower(out[i].Name)]
	}
	slices.SortStableFunc(out, func(a, b answer.GCSetting) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return out
}

// gcMemoryInfo has the figures of one collection. .NET Core 3.1 and earlier don't keep them.
type gcMemoryInfo struct {
	_              objects.Shape    `of:"System.GCMemoryInfoData"`
	Index          objects.IntField `field:"_index"`
	Generation     objects.IntField `field:"_generation"`
	Compacted      objects.IntField `field:"_compacted"`
	Concurrent     objects.IntField `field:"_concurrent"`
	Pause          objects.IntField `field:"_pauseDuration0._ticks,optional"`
	SecondPause    objects.IntField `field:"_pauseDuration1._ticks,optional"`
	PauseShare     objects.IntField `field:"_pauseTimePercentage"`
	HeapSize       objects.IntField `field:"_heapSizeBytes"`
	Fragmented     objects.IntField `field:"_fragmentedBytes"`
	Committed      objects.IntField `field:"_totalCommittedBytes"`
	Promoted       objects.IntField `field:"_promotedBytes"`
	Pinned         objects.IntField `field:"_pinnedObjectsCount"`
	Finalizing     objects.IntField `field:"_finalizationPendingCount"`
	MemoryLoad     objects.IntField `field:"_memoryLoadBytes"`
	HighMemoryLoad objects.IntField `field:"_highMemoryLoadThresholdBytes"`
	Available      objects.IntField `field:"_totalAvailableMemoryBytes"`

	Generation0 objects.StructField `field:"_generationInfo0,optional"`
	Generation1 objects.StructField `field:"_generationInfo1,optional"`
	Generation2 objects.StructField `field:"_generationInfo2,optional"`
	Large       objects.StructField `field:"_generationInfo3,optional"`
	PinnedHeap  objects.StructField `field:"_generationInfo4,optional"`
}

// gcGenerationInfo has the effect of a collection on a generation.
type gcGenerationInfo struct {
	_                objects.Shape    `of:"System.GCGenerationInfo"`
	Before           objects.IntField `field:"<SizeBeforeBytes>"`
	After            objects.IntField `field:"<SizeAfterBytes>"`
	FragmentedBefore objects.IntField `field:"<FragmentationBeforeBytes>"`
	FragmentedAfter  objects.IntField `field:"<FragmentationAfterBytes>"`
}

// Collections adds the collections with figures that the program has read, including unreachable ones, the newest
// first. It records what could not be read. The error is ctx's.
func (r *Reader) Collections(ctx context.Context, h *heap.Heap, o heap.ScanOptions, out *answer.GC) error {
	if out == nil {
		out = &answer.GC{}
	}
	in := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	for object, f := range shapes.ReadObjects[*gcMemoryInfo](ctx, in, h, o) {
		s, x := f.Shape, f.At()
		c := answer.GCRecord{Address: object.Addr, Index: in.IntAt(&s.Index, x), Generation: in.IntAt(&s.Generation, x), Compacted: in.BoolAt(&s.Compacted, x),
			Concurrent: in.BoolAt(&s.Concurrent, x), PauseShare: in.IntAt(&s.PauseShare, x), HeapSize: in.IntAt(&s.HeapSize, x), Fragmented: in.IntAt(&s.Fragmented, x),
			Committed: in.IntAt(&s.Committed, x), Promoted: in.IntAt(&s.Promoted, x), Pinned: in.IntAt(&s.Pinned, x), Finalizing: in.IntAt(&s.Finalizing, x),
			MemoryLoad: in.IntAt(&s.MemoryLoad, x), HighMemoryLoad: in.IntAt(&s.HighMemoryLoad, x), AvailableMemory: in.IntAt(&s.Available, x)}
		if c.Index.Err() == nil && c.Index.Value <= 0 {
			continue // no collection of that kind had happened
		}
		pause, second := in.IntAt(&s.Pause, x), in.IntAt(&s.SecondPause, x)
		c.Pause = answer.Of(answer.Seconds(float64(pause.Value+second.Value)/ticks.PerSecond), cmp.Or(pause.Err(), second.Err()))
		for i, g := range []*objects.StructField{&s.Generation0, &s.Generation1, &s.Generation2, &s.Large, &s.PinnedHeap} {
			if !g.Has() { // since .NET 11 the generations and pauses are inline arrays
				break
			}
			part, err := objects.Bind[*gcGenerationInfo](r.b, g.Type())
			if err != nil {
				in.Note(err)
				continue
			}
			at := g.At(x)
			c.Sizes = append(c.Sizes, answer.GCRecordSize{Generation: heap.Generation(i).String(), Before: in.IntAt(&part.Before, at), After: in.IntAt(&part.After, at),
				FragmentedBefore: in.IntAt(&part.FragmentedBefore, at), FragmentedAfter: in.IntAt(&part.FragmentedAfter, at)})
		}
		out.Saw(uint64(max(0, c.Index.Value)))
		if out.Recorded = append(out.Recorded, c); len(out.Recorded) >= 2*limits.CollectionRecords {
			out.Recorded = newest(out.Recorded)
		}
	}
	out.Recorded = newest(out.Recorded)
	return ctx.Err()
}

// newest returns the newest record of each collection, the newest first.
func newest(list []answer.GCRecord) []answer.GCRecord {
	slices.SortStableFunc(list, func(a, b answer.GCRecord) int { return cmp.Compare(b.Index.Value, a.Index.Value) })
	list = slices.CompactFunc(list, func(a, b answer.GCRecord) bool { return a.Index.Err() == nil && answer.Is(b.Index, a.Index.Value) })
	return list[:min(len(list), limits.CollectionRecords)]
}
