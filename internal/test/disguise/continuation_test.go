package disguise_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// Objects of net10-suspended: a task, the Continuation of its innermost method,
// Suspended.Inner(object), and its type.
const (
	suspendedDump = "../../../testdata/dumps/suspended/net10-suspended/net10-suspended.dmp.zst"
	suspendedTask = target.Addr(0x7f4463808918)
	stateObject   = 0x10 // offset in the task
	continuation  = target.Addr(0x7f4463808758)
	stepType      = target.Addr(0x7f504406f968) // 56 bytes
	innerEntry    = target.Addr(0x7f5044079f38)
	noSuspension  = uint32(0xffff)
)

// TestContinuationVariables makes a continuation in the form of .NET 11: its type has no metadata
// and two words of its own, its ResumeInfo refers to a place in Suspended.Inner, and the debug
// information of that method stores the parameter in the first word.
func TestContinuationVariables(t *testing.T) {
	for _, c := range []struct {
		name   string
		native uint32 // of the suspension point
		offset uint32 // of the parameter
		kind   error
	}{
		{"saved", 12, 48, nil},
		{"where the GC sees no reference", 12, 56, target.ErrCorrupt},
		{"among the members of all continuations", 12, 8, target.ErrCorrupt},
		{"behind the continuation", 12, 64, target.ErrCorrupt},
		{"no such point", noSuspension, 48, target.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := suspendedFrame(t, c.native, c.offset)
			require.Len(t, f.frame.Suspended, 1)
			assert.Equal(t, "Suspended.Inner", f.frame.Suspended[0].Method.String())
			require.Len(t, f.frame.Saved, 1)
			if c.kind != nil {
				assert.Nil(t, f.frame.Saved[0])
				require.NotEmpty(t, f.noted)
				assert.ErrorIs(t, f.noted[0], c.kind)
				return
			}
			assert.Equal(t, []answer.AsyncVariable{{Name: "o", Kind: "parameter", Type: answer.Text{S: "System.Object"}, Value: "System.Runtime.CompilerServices.AsyncHelpers+ThunkTask<System.String>"}}, f.frame.Saved[0])
		})
	}
}

type suspendedAnswer struct {
	frame answer.AsyncFrame
	noted []error
}

func suspendedFrame(t *testing.T, native, saved uint32) suspendedAnswer {
	if _, err := os.Stat(suspendedDump); err != nil {
		t.Skip("there are no canned dumps here")
	}
	o := sosgo.Options{Offline: true}
	plain, err := sosgo.Open(suspendedDump, o)
	require.NoError(t, err)
	defer plain.Close()
	rt, err := plain.Runtime()
	require.NoError(t, err)
	r := dac.CodeOf(rt)
	method, err := r.MethodOfEntry(innerEntry)
	require.NoError(t, err)
	versions, err := r.CodeVersions(method)
	require.NoError(t, err)
	info, err := r.MethodAt(versions[0].Code)
	require.NoError(t, err)
	place := func(typ, field string) target.Addr { return offset(t, rt, typ, field) }

	m := &newMemory{next: disguise.New}
	points := (&synth.Nibbles{}).Uint(2, 1).Int(4).Uint(0).Int(int32(native)-4).Uint(1, 0+6, saved)
	if native == noSuspension {
		points = (&synth.Nibbles{}).Uint(1, 0).Int(4).Uint(0)
	}
	debug := (&synth.Nibbles{}).Uint(0, 0, 0, 0, 0, 0, uint32(len(points.B)))
	m.damage = append(m.damage, testcase.Words(info.Header+place("RealCodeHeader", "DebugInfo"), uint64(m.bytes(append(debug.B, points.B...)))))

	// The type: 16 bytes larger than its parent, with a reference in the first eight.
	const size, parentSize = 72, 56
	mt, err := rt.MethodTable(stepType)
	require.NoError(t, err)
	old, err := target.Bytes(rt.Memory(), stepType, 128)
	require.NoError(t, err)
	class, err := target.Bytes(rt.Memory(), mt.EEClass, 96)
	require.NoError(t, err)
	old, class = bytes.Clone(old), bytes.Clone(class)
	at := m.next + 5*8
	binary.LittleEndian.PutUint32(old[place("MethodTable", "MTFlags2"):], mt.Flags2&0xff)
	binary.LittleEndian.PutUint32(old[place("MethodTable", "BaseSize"):], size)
	binary.LittleEndian.PutUint64(old[place("MethodTable", "ParentMethodTable"):], uint64(stepType))
	binary.LittleEndian.PutUint64(class[place("EEClass", "MethodTable"):], uint64(at))
	series := func(start, n int64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(n-size)), uint64(start))
	}
	made := append(append(append(series(48, 8), series(8, 24)...), binary.LittleEndian.AppendUint64(nil, 2)...), old...)
	m.bytes(made)
	m.damage = append(m.damage, testcase.Words(at+place("MethodTable", "EEClassOrCanonMT"), uint64(m.bytes(class))))
	resume := m.words(0, uint64(versions[0].Code)+12)
	// Header, type, Next, Data, GCData, ResumeInfo, state and flags, then the data.
	object := m.words(0, uint64(at), 0, 0, 0, uint64(resume), 0, uint64(suspendedTask), 7) + 8
	m.damage = append(m.damage, testcase.Words(suspendedTask+stateObject, uint64(object)))

	d := disguise.OpenWith(t, suspendedDump, o, disguise.Changes{Damage: m.damage, Versions: map[string]any{"DebugInfo": "c2"},
		Fields: map[string]map[string]string{"System.Runtime.CompilerServices.Continuation": {"Resume": "ResumeInfo"}}})
	v, err := d.View("")
	require.NoError(t, err)
	list, err := async.Stacks(t.Context(), v.Process, async.StackOptions{StackOptions: tasks.StackOptions{Variables: true}})
	require.NoError(t, err)
	for s, err := range list.Stacks {
		require.NoError(t, err)
		if s.Frames[0].Object == suspendedTask {
			return suspendedAnswer{s.Frames[0], s.Noted()}
		}
	}
	t.Fatal("no such task")
	return suspendedAnswer{}
}
