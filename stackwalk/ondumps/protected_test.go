package ondumps_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// protectedRoom is the distance of TestProtectedValues' frame below the end of a stack, where there are no frames.
const protectedRoom = 0x140

// TestProtectedValues: values that the runtime's own code copied to the stack are among the roots (frames.h,
// ProtectValueClassFrame and ProtectByRefsFrame, a list of ValueClassInfo {m_pNext, m_pVCMT, m_pData} and of ByRefInfo
// {pNext, argIndex, typ, typeHandle, data}). The test adds such a frame to a thread, because no program of the corpus
// stops there.
func TestProtectedValues(t *testing.T) {
	const valueFrame, byRefFrame = "ProtectValueClassFrame", "ProtectByRefsFrame"
	for _, name := range []string{"net31-zoo", "net8-zoo", "win-net8-zoo", "net9-zoo", "net10-zoo", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			p := protectedIn(t, d)
			at, data := p.at, p.at+0x80
			value := func(next, mt, data target.Addr) []uint64 { return []uint64{uint64(next), uint64(mt), uint64(data)} }
			frame := p.frame(t, d, valueFrame)
			kept := []stackwalk.Root{{Explicit: valueFrame, Addr: data + target.Addr(p.offset), Object: p.object}}
			for _, tc := range []struct {
				name  string
				words []uint64 // of the only item of the list
				want  []stackwalk.Root
				err   error
			}{
				{"a struct", value(0, p.mt, data), kept, nil},
				{"a list without an end", value(at+0x20, p.mt, data), kept, target.ErrCorrupt},
				{"an item that is on no stack", value(0x1000, p.mt, data), kept, target.ErrCorrupt},
				{"a value that is on no stack", value(0, p.mt, 0x1000), nil, target.ErrCorrupt},
				{"no type", value(0, data, data), nil, target.ErrCorrupt},
				{"a class", value(0, p.class, data), nil, target.ErrCorrupt},
			} {
				t.Run(tc.name, func(t *testing.T) {
					got, err := p.roots(t, d, valueFrame, append(slices.Clone(frame),
						testdump.Words(at+0x20, tc.words...), testdump.Words(data+target.Addr(p.offset), uint64(p.object)))...)
					assert.ErrorIs(t, err, tc.err)
					if tc.err == target.ErrCorrupt && len(tc.want) > 0 {
						assert.NotEmpty(t, got)
						return
					}
					assert.Equal(t, tc.want, got)
				})
			}
			if p.id(d, byRefFrame) == 0 {
				assert.Contains(t, name, "net10", "the frame is gone since 10")
				return
			}
			t.Run("arguments by reference", func(t *testing.T) {
				argument := func(at, next target.Addr, et metadata.ElementType, mt, data target.Addr) testdump.Damage {
					return testdump.Words(at, uint64(next), uint64(et)<<32, uint64(mt), uint64(data))
				}
				number, str, end := at+0x40, at+0x60, at+0x80
				got, err := p.roots(t, d, byRefFrame, append(slices.Clone(p.frame(t, d, byRefFrame)),
					argument(at+0x20, number, metadata.ElementClass, 0, p.object),
					argument(number, str, metadata.ElementI8, 0, p.object), // a number, whatever it looks like
					argument(str, end, metadata.ElementString, 0, 0),
					argument(end, 0, metadata.ElementValueType, p.mt, 0), testdump.Words(end+24+target.Addr(p.offset), uint64(p.object)))...)
				require.NoError(t, err)
				assert.Equal(t, []stackwalk.Root{
					{Explicit: byRefFrame, Addr: at + 0x20 + 24, Object: p.object},
					{Explicit: byRefFrame, Addr: str + 24},
					{Explicit: byRefFrame, Addr: end + 24 + target.Addr(p.offset), Object: p.object},
				}, got)
			})
		})
	}
}

// A protectedCase describes what TestProtectedValues writes into a dump, and where.
type protectedCase struct {
	thread    uint32 // its OS id
	at        target.Addr
	last      target.Addr // the explicit frame before the new one
	mt, class target.Addr // MethodTables of a struct with one reference, at offset, and of a class
	offset    uint64
	object    target.Addr
}

func protectedIn(t *testing.T, d *testdump.Dump) *protectedCase {
	rt, err := d.Runtime()
	require.NoError(t, err)
	th := worker(t, d.Dump)
	p := &protectedCase{thread: th.OS.ID, at: (th.Managed.Stack.End - protectedRoom) &^ 15}
	for f, err := range rt.Frames(th.Managed) {
		require.NoError(t, err)
		p.last = f.Addr
	}
	require.NotZero(t, p.last)
	require.Less(t, p.last, p.at)
	p.object, err = target.Pointer(d.Memory(), th.Managed.ExposedHandle)
	require.NoError(t, err)
	require.NotZero(t, p.object)
	reader := objects.New(rt)
	for mt, err := range rt.LoadedTypes() {
		if p.mt != 0 && p.class != 0 {
			break
		}
		if err != nil {
			continue
		}
		typ, err := reader.Type(mt.Addr)
		if err != nil {
			continue
		}
		leaves, err := typ.Leaves()
		switch {
		case err != nil || len(leaves) == 0:
		case !mt.IsValueType():
			p.class = mt.Addr
		case len(leaves) < 4 && leaves[0].IsReference() && !slices.ContainsFunc(leaves[1:], func(l objects.Leaf) bool { return l.IsReference() }):
			p.mt, p.offset = mt.Addr, leaves[0].Offset
		}
	}
	require.NotZero(t, p.mt)
	require.NotZero(t, p.class)
	return p
}

// id returns the first word of frames of a class, or 0 if the runtime does not have the class.
func (p *protectedCase) id(d *testdump.Dump, class string) (id uint64) {
	rt, err := d.Runtime()
	if err != nil {
		return 0
	}
	l := rt.Layout().(*layout.Layout)
	if a, err := l.VTable(class); err == nil {
		return uint64(a)
	}
	id, _ = l.Uint(class[:len(class)-len("Frame")] + "FrameIdentifier")
	return id
}

// frame returns a frame of a class after the thread's last, with its list at offset 0x20.
func (p *protectedCase) frame(t *testing.T, d *testdump.Dump, class string) []testdump.Damage {
	id := p.id(d, class)
	require.NotZero(t, id)
	return []testdump.Damage{
		testdump.Words(p.last+8, uint64(p.at)),
		testdump.Words(p.at, id, ^uint64(0), uint64(p.at)+0x20, 0),
	}
}

// roots returns the roots of the thread's frames of a class in the damaged dump, without the places of the frames, and
// an error.
func (p *protectedCase) roots(t *testing.T, d *testdump.Dump, class string, damage ...testdump.Damage) (out []stackwalk.Root, failed error) {
	bad := d.Damaged(t, damage...)
	defer bad.Close()
	w, err := bad.Walker()
	require.NoError(t, err)
	list, err := bad.Threads()
	require.NoError(t, err)
	i := slices.IndexFunc(list, func(th stackwalk.Thread) bool { return th.OS != nil && th.OS.ID == p.thread })
	require.GreaterOrEqual(t, i, 0)
	for r, err := range w.Roots(context.Background(), list[i].Managed, list[i].OS.Registers) {
		switch {
		case r.Explicit != class:
		case err != nil:
			failed = err
		default:
			out = append(out, stackwalk.Root{Explicit: r.Explicit, Addr: r.Addr, Object: r.Object, Interior: r.Interior, Pinned: r.Pinned})
		}
	}
	return out, failed
}
