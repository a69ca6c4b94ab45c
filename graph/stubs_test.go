package graph_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// stubs is the folder of a dump with threads in stubs of the runtime. Its program is Stubs.cs there.
const stubs = "../testdata/dumps/roots/net10-stubs"

// openStubs opens the dump with other bytes in places. It returns the dump's objects by name.
func openStubs(t *testing.T, patches map[target.Addr][]byte) (*sosgo.View, map[string]target.Addr) {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(stubs, "facts.txt"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	objects := map[string]target.Addr{}
	for line := range strings.Lines(string(facts)) {
		var name, typ string
		var a uint64
		_, err := fmt.Sscanf(line, "%s 0x%x %s", &name, &a, &typ)
		require.NoError(t, err)
		objects[name] = target.Addr(a)
	}
	var damage []testdump.Damage
	for at, b := range patches {
		damage = append(damage, testdump.Damage{At: at, Bytes: b})
	}
	d, _ := testdump.OverlaidFile(t, filepath.Join(stubs, "net10-stubs.dmp.zst"), sosgo.Options{Offline: true}, damage...)
	v, err := d.View("")
	require.NoError(t, err)
	return v, objects
}

// TestArgumentsOfStubs: while a method is compiled, the stub that was called in its place holds its arguments: in
// registers and on the stack, this, structs whole and in parts, after the place of the result and the generic context.
func TestArgumentsOfStubs(t *testing.T) {
	v, objects := openStubs(t, nil)
	r, err := v.RootReader()
	require.NoError(t, err)
	got, methods := map[target.Addr]int{}, map[string]bool{}
	for root, err := range r.All(t.Context(), graph.RootOptions{}) {
		require.NoError(t, err)
		if root.Kind != graph.RootStack || root.Frame.Explicit != "PrestubMethodFrame" {
			continue
		}
		got[root.Object]++
		methods[r.Describe(t.Context(), &root).Frame.Method.S] = true
		interior := root.Object != root.Value || root.Object == objects["static.r"]
		assert.Equal(t, interior, root.Interior, "%#x", uint64(root.Object))
	}
	want := 0
	for name, a := range objects {
		switch thread, _, _ := strings.Cut(name, "."); {
		case name == "static.r" || name == "struct.this":
			// The argument refers to a field of one object, and to an element of an array.
			assert.Zero(t, got[a], name)
		case thread == "static" || thread == "struct" || thread == "ret" || thread == "gen" || thread == "virt":
			want++
			assert.Equal(t, 1, got[a], name)
		case thread != "dead":
			assert.Zero(t, got[a], name)
		}
	}
	assert.Equal(t, 21, want)
	assert.Len(t, got, want+2)
	assert.Contains(t, methods, "Obj.Ret(System.Object, Int32, System.Object)")
	assert.Len(t, methods, 5)
}

// TestThreadStaticsOfStubs: statics and thread statics of a type that can be unloaded, and a thread static of one that
// can't, have their slots. Their tables are kept alive.
func TestThreadStaticsOfStubs(t *testing.T) {
	v, objects := openStubs(t, nil)
	r, err := v.RootReader()
	require.NoError(t, err)
	got := map[string]target.Addr{}
	for s, err := range r.Statics(t.Context()) {
		require.NoError(t, err)
		name, err := s.Name()
		require.NoError(t, err)
		if strings.HasPrefix(name, "Unloadable.") || name == "Program.mine" {
			assert.Zero(t, got[name], name)
			assert.NotZero(t, s.Table, name)
			got[name] = s.Object
		}
		if name == "Program.mine" || name == "Unloadable.Keeper.perThread" {
			require.NotNil(t, s.Thread, name)
			who, err := s.Thread.Name()
			assert.NoError(t, err)
			assert.Equal(t, "ThreadStatics", who)
		}
	}
	assert.Equal(t, map[string]target.Addr{"Program.mine": objects["threadStatic"],
		"Unloadable.Keeper.shared": objects["unloadable.static"], "Unloadable.Keeper.perThread": objects["unloadable.threadStatic"]}, got)
}

// TestArgumentsOfTailCalls: the arguments of a completed tail call are not roots. The arguments of one that is about to
// be made are: the same buffer with another state.
func TestArgumentsOfTailCalls(t *testing.T) {
	const argBuffer = 0x260 // Thread::m_tailCallTls.m_argBuffer of this runtime
	v, objects := openStubs(t, nil)
	list, err := v.Threads()
	require.NoError(t, err)
	var thread *stackwalk.Thread
	for i := range list {
		if name, _ := list[i].Name(); name == "Tail" {
			thread = &list[i]
		}
	}
	require.NotNil(t, thread)
	buffer, err := target.Pointer(v.Dump().Memory(), thread.Managed.Addr+argBuffer)
	require.NoError(t, err)
	desc, err := target.Pointer(v.Dump().Memory(), buffer+8)
	require.NoError(t, err)

	count := func(patches map[target.Addr][]byte) (held int, errs []error) {
		v, _ := openStubs(t, patches)
		for root, err := range v.Roots(t.Context()) {
			switch {
			case err != nil:
				errs = append(errs, err)
			case root.Kind == graph.RootStack && root.Frame.Explicit == "TailCallArgBuffer":
				assert.Equal(t, objects["tail.a"], root.Object)
				assert.Equal(t, thread.ID(), root.Thread.ID())
				held++
			}
		}
		return held, errs
	}
	word := func(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
	held, errs := count(nil)
	assert.Zero(t, held)
	assert.Empty(t, errs)
	held, errs = count(map[target.Addr][]byte{buffer: word(0)})
	assert.Equal(t, 8, held)
	assert.Empty(t, errs)
	for name, damage := range map[string]map[target.Addr][]byte{
		"a state that there is not":     {buffer: word(3)},
		"a size that can't be":          {buffer + 4: word(8)},
		"a map that goes beyond":        {buffer: word(0), buffer + 4: word(16 + 7*8)},
		"a map that skips very far":     {buffer: word(0), desc: {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		"a map that has no last number": {buffer: word(0), desc: {0xff, 0xfb, 0xfe, 0xfe, 0xff, 0xff, 0xff, 0xff}},
	} {
		_, errs := count(damage)
		require.Len(t, errs, 1, name)
		assert.ErrorIs(t, errs[0], target.ErrCorrupt, name)
	}
}

// TestFramesThatAreNotRead: a frame with references that sosgo can't read is an error among the roots, and other roots
// remain.
func TestFramesThatAreNotRead(t *testing.T) {
	v, _ := openStubs(t, nil)
	rt, err := v.Runtime()
	require.NoError(t, err)
	stub, all := target.Addr(0), 0
	for root, err := range v.Roots(t.Context()) {
		require.NoError(t, err)
		if all++; root.Kind == graph.RootStack && root.Frame.Explicit == "PrestubMethodFrame" {
			stub = root.Frame.SP
		}
	}
	require.NotZero(t, stub)
	for _, class := range []string{"PInvokeCalliFrame", "HijackFrame"} {
		number, err := rt.Layout().Uint(class + "Identifier")
		require.NoError(t, err)
		id := binary.LittleEndian.AppendUint64(nil, number)
		changed, _ := openStubs(t, map[target.Addr][]byte{stub: id})
		reported, left := 0, 0
		for _, err := range changed.Roots(t.Context()) {
			if err == nil {
				left++
			} else if strings.Contains(err.Error(), class) && errors.Is(err, target.ErrUnsupported) {
				reported++
			}
		}
		assert.Equal(t, 1, reported, class)
		assert.Greater(t, left, all/2, class)
	}
}
