package stackscan_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// eachZoo calls f for the dumps of the scenario "zoo" with the heap.
func eachZoo(t *testing.T, f func(t *testing.T, d *testdump.Dump, s *stackscan.Scanner)) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != "zoo" || !d.HasHeap() {
			t.Skip("another scenario, or no heap")
		}
		s, err := d.Scanner()
		require.NoError(t, err)
		f(t, d, s)
	})
}

// optionsOf returns the options of a scan of th.
func optionsOf(t *testing.T, d *sosgo.Dump, th *stackwalk.Thread) stackscan.Options {
	stack, err := th.Stack(d.Target())
	require.NoError(t, err)
	return stackscan.Options{Ranges: stack.Ranges, Registers: &th.OS.Registers}
}

// listAll lists the objects of all stacks.
func listAll(t *testing.T, d *sosgo.Dump, s *stackscan.Scanner, verify bool, gaps *answer.Gaps) (out []answer.StackObject) {
	list, err := d.Threads()
	require.NoError(t, err)
	for i := range list {
		if list[i].OS == nil {
			continue
		}
		o := optionsOf(t, d, &list[i])
		o.Verify = verify
		for row, err := range s.List(context.Background(), o, gaps) {
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump)
				continue
			}
			out = append(out, row)
		}
	}
	return out
}

// TestListHasTheFacts: the stacks refer to objects with the addresses and types in the manifest, and with the texts in
// the program's source.
func TestListHasTheFacts(t *testing.T) {
	eachZoo(t, func(t *testing.T, d *testdump.Dump, s *stackscan.Scanner) {
		var gaps answer.Gaps
		rows := listAll(t, d.Dump, s, false, &gaps)
		assert.Empty(t, gaps.Noted())
		types := map[target.Addr]string{}
		texts := map[string]bool{}
		for i := range rows {
			types[rows[i].Object] = rows[i].Type.String()
			texts[rows[i].Value] = true
			assert.NotEqual(t, rows[i].Register == "", rows[i].Slot == 0, "in a register, or in a word")
		}
		seen := 0
		for _, o := range d.Manifest.Objects() {
			if got, ok := types[o.Addr]; ok {
				seen++
				assert.Equal(t, testdump.ManagedName(o.Type), got, o.Name)
			}
		}
		assert.GreaterOrEqual(t, seen, 2)
		assert.Contains(t, types, objectFact(t, d, "stack only"))
		assert.True(t, texts[`"argument string"`], "the text of a string")
	})
}

// TestVerifyLeavesOnlySound: Verify selects a part of the slots, all of them proven. In a sound process it keeps what
// the GC reports.
func TestVerifyLeavesOnlySound(t *testing.T) {
	eachZoo(t, func(t *testing.T, d *testdump.Dump, s *stackscan.Scanner) {
		var gaps answer.Gaps
		key := func(r *answer.StackObject) [2]any { return [2]any{r.Slot, r.Object} }
		found := map[[2]any]bool{}
		for _, r := range listAll(t, d.Dump, s, false, &gaps) {
			found[key(&r)] = true
		}
		verified := listAll(t, d.Dump, s, true, &gaps)
		objects := map[target.Addr]bool{}
		for _, r := range verified {
			assert.True(t, found[key(&r)])
			assert.False(t, r.Unproven)
			objects[r.Object] = true
		}
		for _, o := range d.Manifest.Objects() {
			if o.Name == "stack only" || o.Name == "root" {
				assert.True(t, objects[o.Addr], o.Name)
			}
		}
	})
}

// TestListOfExceptions: the value of an exception is its message.
func TestListOfExceptions(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	s, err := d.Scanner()
	require.NoError(t, err)
	var gaps answer.Gaps
	messages := map[string]string{}
	for _, r := range listAll(t, d.Dump, s, false, &gaps) {
		messages[r.Type.String()] = r.Value
	}
	assert.Equal(t, `"order 1042 failed"`, messages["Debuggee.Crash.OrderException"])
	assert.Equal(t, `"The input string 'not a number 1042' was not in a correct format."`, messages["System.FormatException"])
}

// TestWithoutAHeap: without a heap that can be walked, the same references are found and are unproven. Verify then
// finds nothing.
func TestWithoutAHeap(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		rt, err := d.Runtime()
		require.NoError(t, err)
		s := stackscan.New(rt, nil)
		assert.Same(t, rt, s.Runtime())
		var gaps answer.Gaps
		objects := map[target.Addr]string{}
		for _, r := range listAll(t, d.Dump, s, false, &gaps) {
			assert.True(t, r.Unproven)
			assert.Nil(t, target.ModuleAt(d.Target().Modules(), r.Object), "no object lies in a module")
			objects[r.Object] = r.Type.String()
		}
		for _, o := range d.Manifest.Objects() {
			if o.Name == "stack only" {
				assert.Equal(t, testdump.ManagedName(o.Type), objects[o.Addr])
			}
		}
		assert.Empty(t, listAll(t, d.Dump, s, true, &gaps), "nothing is proven")
	}
}

// TestTriageIsUnproven: in a dump without the heap, all references are unproven.
func TestTriageIsUnproven(t *testing.T) {
	for _, name := range []string{"net10-crash-null-triage", "win-net10-zoo-triage"} {
		d := testdump.Open(t, name)
		s, err := d.Scanner()
		require.NoError(t, err)
		var gaps answer.Gaps
		for _, r := range listAll(t, d.Dump, s, true, &gaps) {
			assert.False(t, r.Unproven)
		}
	}
}

// TestScanEndsWithTheContext: a scan ends within 50 ms, with the context's error.
func TestScanEndsWithTheContext(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	s, err := d.Scanner()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	testcase.Soon(t, 50*time.Millisecond, func() {
		var last error
		rows := 0
		for _, last = range s.List(ended, optionsOf(t, d.Dump, &list[0]), new(answer.Gaps)) {
			rows++
		}
		assert.Equal(t, 1, rows)
		assert.ErrorIs(t, last, context.Canceled)
	})
}

func TestSources(t *testing.T) {
	assert.Equal(t, "register", stackscan.SourceRegister.String())
	assert.Equal(t, "stack", stackscan.SourceStack.String())
}

// TestVerifyLeavesOutTheDamaged: an array with a reference into the middle of an object is found, but not verified.
func TestVerifyLeavesOutTheDamaged(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		at := objectFact(t, d, "stack only")
		h, err := d.Heap()
		require.NoError(t, err)
		array, err := h.ObjectAt(at)
		require.NoError(t, err)
		var ref heap.Reference
		for ref, err = range h.References(array) {
			require.NoError(t, err)
			break
		}
		require.NotZero(t, ref.Slot, "one of the elements has a label")

		raw, err := d.Raw()
		require.NoError(t, err)
		object, err := target.Bytes(d.Memory(), at, int(array.Size))
		require.NoError(t, err)
		place := bytes.Index(raw, object)
		require.GreaterOrEqual(t, place, 0)
		binary.LittleEndian.PutUint64(raw[place+int(ref.Slot-at):], uint64(objectFact(t, d, "root"))+8)
		damaged, err := sosgo.OpenReaderAt(bytes.NewReader(raw), int64(len(raw)), d.Options())
		require.NoError(t, err)
		s, err := damaged.Scanner()
		require.NoError(t, err)
		has := func(verify bool) bool {
			var gaps answer.Gaps
			return slices.ContainsFunc(listAll(t, damaged, s, verify, &gaps), func(r answer.StackObject) bool { return r.Object == at })
		}
		assert.True(t, has(false))
		assert.False(t, has(true))
		assert.NoError(t, damaged.Close())
	}
}

// objectFact returns the address of an object in the manifest.
func objectFact(t *testing.T, d *testdump.Dump, name string) target.Addr {
	facts := d.Manifest.Objects()
	i := slices.IndexFunc(facts, func(o testcase.ObjectFact) bool { return o.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return facts[i].Addr
}
