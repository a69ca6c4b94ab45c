package waste_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/waste"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

func find(t *testing.T, d *testdump.Dump, o waste.Options) *answer.Waste {
	t.Helper()
	h, err := d.Heap()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	w, err := waste.Find(t.Context(), h, r, o)
	require.NoError(t, err)
	return w
}

func kindOf(t *testing.T, w *answer.Waste, name answer.WasteForm) *answer.WasteKind {
	t.Helper()
	for i := range w.Kinds {
		if w.Kinds[i].Kind == name {
			return &w.Kinds[i]
		}
	}
	require.Failf(t, "no such kind", "%s", name)
	return nil
}

// TestSums checks that strings waste what dumpheap -strings reports, that sums match their rows, that kinds of arrays
// do not overlap, and that the number of workers does not matter.
func TestSums(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil || len(h.Segments()) == 0 || len(d.Manifest.Objects()) == 0 {
			t.Skip("no heap in the dump")
		}
		w := find(t, d, waste.Options{Scan: heap.ScanOptions{Jobs: 1}})
		list, stats, err := h.Strings(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		var repeats, bytes uint64
		for _, s := range list {
			repeats += s.Count - 1
			bytes += s.TotalSize() - s.Size
		}
		k := kindOf(t, w, answer.WasteStrings)
		assert.Equal(t, repeats, k.Objects)
		assert.Equal(t, bytes, k.Wasted)
		assert.Equal(t, stats.Count, k.All)
		assert.Equal(t, stats.Size, k.AllSize)
		var rows, all uint64
		for _, s := range k.Strings {
			rows += s.Wasted
		}
		assert.Equal(t, bytes, rows)
		for _, k := range w.Kinds {
			all += k.Wasted
			if k.Kind != answer.WasteStrings {
				var objects, wasted uint64
				for _, row := range k.Types {
					objects, wasted = objects+row.Objects, wasted+row.Wasted
				}
				assert.Equal(t, k.Objects, objects, k.Kind)
				assert.Equal(t, k.Wasted, wasted, k.Kind)
			}
		}
		assert.Equal(t, w.Wasted, all)
		assert.LessOrEqual(t, w.Wasted, w.Size)
		assert.Equal(t, w, find(t, d, waste.Options{Scan: heap.ScanOptions{Jobs: 3}}))
	})
}

// TestHeapScenario compares the waste of the heap cases with their source (Heap.cs).
func TestHeapScenario(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-heap-withheap"), func(t *testing.T, d *testdump.Dump) int {
		w := find(t, d, waste.Options{})
		holders := func(kind answer.WasteForm) map[string]answer.WasteHolder {
			m := map[string]answer.WasteHolder{}
			for _, h := range kindOf(t, w, kind).Holders {
				require.NoError(t, h.Holder.Err)
				m[h.Holder.S] = h
			}
			return m
		}
		texts := map[string]answer.RepeatedString{}
		for _, s := range kindOf(t, w, answer.WasteStrings).Strings {
			texts[s.Text.S] = s
		}
		d40 := texts["dddddddddddddddddddddddddddddddddddddddd"]
		assert.Equal(t, uint64(300), d40.Count)
		require.NotEmpty(t, d40.Holders)
		assert.Equal(t, "System.Object[]", d40.Holders[0].Holder.S, "the array behind a List<object>")
		assert.Equal(t, uint64(300), d40.Holders[0].References)
		for user := range 10 {
			s := texts["user "+string(rune('0'+user))]
			assert.Equal(t, uint64(100), s.Count)
			require.NotEmpty(t, s.Holders)
			assert.Equal(t, "Debuggee.Heap.Session.User", s.Holders[0].Holder.S)
		}
		assert.Equal(t, uint64(1000), holders(answer.WasteStrings)["Debuggee.Heap.Session.User"].References)
		payload := holders(answer.WasteZeros)["Debuggee.Heap.Subscriber.Payload"]
		assert.Equal(t, answer.WasteHolder{Holder: payload.Holder, References: 500, Wasted: 500 * 1000}, payload)
		assert.Equal(t, uint64(1000), holders(answer.WasteUnderfilled)["Debuggee.Heap.Session.Log"].References, "one of four")
		assert.Equal(t, uint64(1000*3*8), holders(answer.WasteUnderfilled)["Debuggee.Heap.Session.Log"].Wasted)
		assert.Equal(t, uint64(10), holders(answer.WasteEmptyCollections)["Debuggee.Heap.Session.Log"].References, "of the handles' sessions")
		assert.Empty(t, w.Unknown)
		return len(texts)
	})
}

// TestOptions checks that kinds, rows and the least size are selected without changing the sums.
func TestOptions(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	all := find(t, d, waste.Options{})
	offered, _ := reflect.TypeFor[waste.Options]().FieldByName("Kinds")
	var kinds []string
	for _, k := range all.Kinds {
		kinds = append(kinds, string(k.Kind))
	}
	assert.ElementsMatch(t, kinds, strings.Split(offered.Tag.Get("choices"), "|"))
	w := find(t, d, waste.Options{Kinds: []answer.WasteForm{answer.WasteBoxes}})
	require.Len(t, w.Kinds, 1)
	assert.Equal(t, kindOf(t, all, answer.WasteBoxes), &w.Kinds[0])
	w = find(t, d, waste.Options{Top: 2})
	for i, k := range w.Kinds {
		full := &all.Kinds[i]
		assert.Equal(t, full.Wasted, k.Wasted)
		assert.LessOrEqual(t, len(k.Types), 2)
		assert.Equal(t, len(full.Types), len(k.Types)+k.MoreTypes, k.Kind)
		assert.Equal(t, len(full.Holders), len(k.Holders)+k.MoreHolders, k.Kind)
		assert.Equal(t, uint64(len(full.Strings)), uint64(len(k.Strings))+k.MoreStrings, k.Kind)
	}
	w = find(t, d, waste.Options{Min: 500})
	for i, k := range w.Kinds {
		assert.Equal(t, all.Kinds[i].Wasted, k.Wasted)
		for _, row := range k.Types {
			assert.GreaterOrEqual(t, row.Wasted, uint64(500))
		}
		for _, row := range k.Strings {
			assert.GreaterOrEqual(t, row.Wasted, uint64(500))
		}
	}
}

// TestImpossibleCollection checks that a collection with more elements than room is reported as unread, not as full.
func TestImpossibleCollection(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	sound := find(t, d, waste.Options{})
	types := kindOf(t, sound, answer.WasteUnderfilled).Types
	require.NotEmpty(t, types)
	r, err := d.Objects()
	require.NoError(t, err)
	o, err := r.Object(types[0].Example)
	require.NoError(t, err)
	var at target.Addr
	for _, name := range []string{"_size", "_count", "m_ChunkLength"} {
		if f, err := o.Type.InstanceField(name); err == nil {
			at = o.Addr + 8 + target.Addr(f.Offset)
		}
	}
	require.NotZero(t, at)
	bad := d.Damaged(t, testdump.Damage{At: at, Bytes: []byte{0xff, 0xff, 0xff, 0x7f}})
	h, err := bad.Heap()
	require.NoError(t, err)
	br, err := bad.Objects()
	require.NoError(t, err)
	w, err := waste.Find(t.Context(), h, br, waste.Options{})
	require.NoError(t, err)
	assert.Equal(t, sound.Unread+1, w.Unread)
	require.NotEmpty(t, w.Noted())
	assert.ErrorIs(t, w.Noted()[0], target.ErrCorrupt)
	assert.Equal(t, kindOf(t, sound, answer.WasteUnderfilled).Objects-1, kindOf(t, w, answer.WasteUnderfilled).Objects)
}

// TestMarkedArrays checks arrays with known contents.
func TestMarkedArrays(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	var array heap.Object
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if name, err := h.Runtime().TypeName(o.Type.Addr, 0); err == nil && name == "System.Int32[]" && o.Length >= 32 {
			array = o
			break
		}
	}
	require.NotZero(t, array.Addr)
	fill := func(first, rest byte) *answer.Waste {
		b := make([]byte, 4*array.Length)
		for i := range b {
			b[i] = rest
			if i < len(b)/4 {
				b[i] = first
			}
		}
		bad := d.Damaged(t, testdump.Damage{At: array.Addr + 16, Bytes: b})
		h, err := bad.Heap()
		require.NoError(t, err)
		r, err := bad.Objects()
		require.NoError(t, err)
		w, err := waste.Find(t.Context(), h, r, waste.Options{})
		require.NoError(t, err)
		return w
	}
	size := 4 * uint64(array.Length)
	none := fill(1, 2)
	for _, c := range []struct {
		kind        answer.WasteForm
		first, rest byte
		wasted      uint64
	}{{answer.WasteZeros, 0, 0, size}, {answer.WasteConstant, 7, 7, size - 4}, {answer.WasteTails, 1, 0, size - (size/4+3)/4*4}} {
		w := fill(c.first, c.rest)
		for i := range none.Kinds {
			k := none.Kinds[i].Kind
			before, after := &none.Kinds[i], kindOf(t, w, k)
			if k == c.kind {
				assert.Equal(t, before.Objects+1, after.Objects, k)
				assert.Equal(t, before.Wasted+c.wasted, after.Wasted, k)
			} else {
				assert.Equal(t, before.Wasted, after.Wasted, k)
			}
		}
	}
}

// TestLive checks that dead objects are omitted, and that a Live function that accepts all changes nothing.
func TestLive(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil || len(h.Segments()) == 0 || len(d.Manifest.Objects()) == 0 {
			t.Skip("no heap in the dump")
		}
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		live, err := g.LiveStarts(t.Context())
		require.NoError(t, err)
		all := find(t, d, waste.Options{})
		every := find(t, d, waste.Options{Live: func(target.Addr) bool { return true }})
		every.Live = false
		assert.Equal(t, all, every)
		none := find(t, d, waste.Options{Live: func(target.Addr) bool { return false }})
		assert.Zero(t, none.Objects)
		assert.Zero(t, none.Wasted)
		w := find(t, d, waste.Options{Live: live})
		l, err := g.Live(t.Context())
		require.NoError(t, err)
		objects, size := l.Count()
		assert.True(t, w.Live)
		assert.Equal(t, objects, w.Objects)
		assert.Equal(t, size, w.Size)
		assert.Less(t, w.Wasted, all.Wasted+1)
	})
}

// TestStatics checks that a static field is the holder of its object, instead of an element of the field's table.
func TestStatics(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil || len(h.Segments()) == 0 || len(d.Manifest.Objects()) == 0 {
			t.Skip("no heap in the dump")
		}
		v, err := d.View("")
		require.NoError(t, err)
		reader, err := v.RootReader()
		require.NoError(t, err)
		var o waste.Options
		for s, err := range reader.Statics(t.Context()) {
			if err == nil {
				name, _ := s.Name()
				o.Statics = append(o.Statics, waste.Static{Name: answer.Text{S: name}, Slot: s.Slot, Object: s.Object, Table: s.Table})
			}
		}
		without, with := find(t, d, waste.Options{}), find(t, d, o)
		statics := uint64(0)
		for i := range with.Kinds {
			a, b := kindOf(t, without, with.Kinds[i].Kind), &with.Kinds[i]
			assert.Equal(t, a.Wasted, b.Wasted)
			sum := func(list []answer.WasteHolder, static bool) (n uint64) {
				for i := range list {
					if !static || strings.HasPrefix(list[i].Holder.S, "static ") {
						n += list[i].References
					}
				}
				return n
			}
			assert.GreaterOrEqual(t, sum(b.Holders, false), sum(a.Holders, false))
			assert.Zero(t, sum(a.Holders, true))
			statics += sum(b.Holders, true)
		}
		assert.NotZero(t, statics)
	})
}

// TestLocals checks that the holder of an object on a stack is the frame and variable, named only if listed. References
// to objects without waste are no holders.
func TestLocals(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	without := find(t, d, waste.Options{})
	h, err := d.Heap()
	require.NoError(t, err)
	plain := target.Addr(0)
	for o, err := range h.Objects() {
		require.NoError(t, err)
		if o.Free || !o.Type.IsArray() && o.Type.Addr != h.Runtime().WellKnown().String && plain == 0 {
			plain = o.Addr
		}
	}
	text := kindOf(t, without, answer.WasteStrings).Strings[0].Address
	asked := 0
	name := func() answer.Text { asked++; return answer.Text{S: "thread 1: Main() text"} }
	never := func() answer.Text { t.Error("what holds nothing wasted is listed"); return answer.Text{} }
	with := find(t, d, waste.Options{Locals: []waste.Local{{Object: plain, Name: never}, {Object: text, Name: name}, {Object: 8, Name: never}},
		Statics: []waste.Static{{Name: answer.Text{S: "A.s"}, Slot: 16, Object: plain}}})
	assert.Positive(t, asked)
	k := kindOf(t, with, answer.WasteStrings)
	i := slices.IndexFunc(k.Holders, func(h answer.WasteHolder) bool { return h.Holder.S == "thread 1: Main() text" })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, uint64(1), k.Holders[i].References)
	assert.Equal(t, kindOf(t, without, answer.WasteStrings).Wasted, k.Wasted, "to be held wastes nothing")
}

// TestNameless checks heaps with unreadable type names: whether objects are collections is unknown, so no row has 0,
// and holders are named by the type's address.
func TestNameless(t *testing.T) {
	c := testdump.OpenCase(t, "win-net8-zoo-withheap")
	d, err := sosgo.Open(c.Plain(), sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	w := find(t, &testdump.Dump{Dump: d, Case: c.Case}, waste.Options{})
	holders := map[string]bool{}
	for _, k := range w.Kinds {
		assert.NotEqual(t, answer.WasteUnderfilled, k.Kind)
		assert.NotEqual(t, answer.WasteEmptyCollections, k.Kind)
		for _, h := range k.Holders {
			name := string(k.Kind) + h.Holder.String()
			assert.False(t, holders[name], "%s twice", name)
			holders[name] = true
		}
	}
	assert.NotEmpty(t, holders)
}
