package contracts_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// A reading is the expected result of a contract, as text.
type reading struct {
	contract, name string
	read           func(p *tiny, rt *dac.Runtime, d target.Target) (string, error)
	want           string // with {symbols} of the process
	types          string // the types that it needs
	opens          bool   // the runtime opens without it
	from11         bool   // the contract does not exist in 10
	needs          string // another contract
}

var readings = []reading{
	{contract: "Thread", name: "threads", opens: true, types: "ThreadStore", want: "1 42 {thread} finalizer",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			list, err := rt.Threads()
			if len(list) != 1 {
				return "", err
			}
			t := &list[0]
			if !t.Finalizer || t.Stack != (target.Range{Start: synth.CLRStack, End: synth.CLRStack + 0x4000}) {
				return fmt.Sprintf("%+v", *t), err
			}
			return fmt.Sprintf("%d %d %x finalizer", t.ManagedID, t.OSID, uint64(t.Addr)), err
		}},
	{contract: "Exception", name: "object", opens: true, types: "Exception", want: "{hello} 80131500",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			e, err := rt.Exception(target.Addr(p.thrown))
			return fmt.Sprintf("%x %x", uint64(e.Message), e.HResult), err
		}},
	{contract: "Exception", name: "state: the object since 11, a handle before", opens: true, types: "ExceptionInfo", needs: "Thread", want: "{thrown} true",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			list, err := rt.Threads()
			if err != nil || len(list) == 0 {
				return "", err
			}
			states, err := rt.ExceptionStates(&list[0])
			if len(states) != 1 {
				return "", err
			}
			return fmt.Sprintf("%x %v", uint64(states[0].Thrown), states[0].Flags&dac.ExceptionUnhandled != 0), err
		}},
	{contract: "Object", name: "text", types: "String", want: "hi",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			return rt.StringAt(target.Addr(p.hello), 10)
		}},
	{contract: "SyncBlock", name: "sync blocks", opens: true, types: "SyncTableEntry", want: "1 {hello} owner 1, 2 times",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			b, err := first(rt.SyncBlocks())
			return fmt.Sprintf("%d %x owner %d, %d times", b.Index, uint64(b.Object), b.OwnerID, b.Recursion), err
		}},
	{contract: "Loader", name: "modules", opens: true, types: "Assembly", want: "/app/Tiny.dll {module}",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			list, err := rt.Modules()
			if len(list) != 1 || err != nil {
				return "", err
			}
			path, err := list[0].Path()
			return fmt.Sprintf("%s %x", path, uint64(list[0].Addr)), err
		}},
	{contract: "RuntimeTypeSystem", name: "fields", types: "FieldDesc", want: "6 fields, the last at 40",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			mt, err := rt.MethodTable(target.Addr(p.exception))
			if err != nil {
				return "", err
			}
			fields, err := rt.Fields(mt)
			if len(fields) == 0 {
				return "", err
			}
			return fmt.Sprintf("%d fields, the last at %d", len(fields), fields[len(fields)-1].Offset), err
		}},
	{contract: "RuntimeTypeSystem", name: "method", types: "MethodDescChunk", want: "06000005 of {object}", opens: true,
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			m, err := dac.CodeOf(rt).MethodDesc(target.Addr(p.method))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%08x of %x", uint32(m.Token), uint64(m.MethodTable)), nil
		}},
	{contract: "ExecutionManager", name: "nibble map", opens: true, types: "RangeSection", want: "{method} from {code}, 32 bytes",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			i, err := dac.CodeOf(rt).MethodAt(target.Addr(p.code + 4))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%x from %x, %d bytes", uint64(i.Method.Addr), uint64(i.Start), i.Size), nil
		}},
	{contract: "ExecutionManager", name: "byte code", opens: true, types: "InterpreterRealCodeHeader", from11: true, want: "{method} from {bytes}, at 21",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			i, err := dac.CodeOf(rt).PlaceAt(target.Addr(p.byteCode + 21))
			if err != nil {
				return "", err
			}
			_, err = dac.CodeOf(rt).MethodAt(target.Addr(p.byteCode + 21)) // not code of the processor
			if !errors.Is(err, dac.ErrNoCode) {
				return "", fmt.Errorf("compiled code: %w", err)
			}
			return fmt.Sprintf("%x from %x, at %d", uint64(i.Method.Addr), uint64(i.Start), i.Offset), nil
		}},
	{contract: "DebugInfo", name: "IL of byte code", opens: true, types: "InterpreterRealCodeHeader", needs: "ExecutionManager", from11: true, want: "7 3 3 none",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			var out []string
			for _, at := range []uint64{40, 39, 20, 7} {
				i, err := dac.CodeOf(rt).PlaceAt(target.Addr(p.byteCode + at))
				if err != nil {
					return "", err
				}
				il, ok, err := dac.CodeOf(rt).ILOffset(i)
				switch {
				case err != nil:
					return "", err
				case !ok:
					out = append(out, "none")
				default:
					out = append(out, fmt.Sprint(il))
				}
			}
			return strings.Join(out, " "), nil
		}},
	{contract: "CodeVersions", name: "versions", opens: true, types: "NativeCodeVersionNode", want: "2 versions, ReJIT 7 active at 1000",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			m, err := dac.CodeOf(rt).MethodDesc(target.Addr(p.method))
			if err != nil {
				return "", err
			}
			list, err := dac.CodeOf(rt).CodeVersions(m)
			if len(list) < 2 {
				return fmt.Sprintf("%d versions", len(list)), err
			}
			return fmt.Sprintf("%d versions, ReJIT %d active at %x", len(list), list[1].ReJIT, uint64(list[1].Code)), err
		}},
	{contract: "CodeVersions", name: "versions of IL", opens: true, types: "ILCodeVersioningState ILCodeVersionNode", needs: "Loader",
		want: "ReJIT 7 has its IL true; ReJIT 6 the profiler is asked for the IL false; ReJIT 5 requested false; ",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			out, err := dac.CodeOf(rt).DescribeTiers(context.Background())
			if err != nil {
				return "", err
			}
			var text string
			for _, v := range out.Versions {
				text += fmt.Sprintf("ReJIT %d %s %v; ", v.ReJIT, v.State, v.Active)
			}
			return text, out.VersionsMissing.Err
		}},
	{contract: "EcmaMetadata", name: "metadata of an emitted module", opens: true, types: "DynamicMetadata", needs: "Loader", want: "68 bytes",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			m, err := rt.TrustedModule(target.Addr(p.emitted))
			if err == nil {
				_, err = m.Metadata()
			}
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d bytes", m.MetadataSource().Size), nil
		}},
	{contract: "StackWalk", name: "frames", opens: true, types: "InlinedCallFrame", want: "InlinedCallFrame {frame}",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			f, err := rt.Frame(target.Addr(p.frame))
			return fmt.Sprintf("%s %x", f.Class, uint64(f.Addr)), err
		}},
	{contract: "StackWalk", name: "interpreted methods", opens: true, types: "InterpreterFrame InterpMethodContextFrame InterpByteCodeStart InterpMethod", from11: true,
		want: "{method} {bytes}+40 true 0; {method} {bytes}+20 false 100; ",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) {
			f, err := rt.Frame(target.Addr(p.interpreter))
			if err != nil {
				return "", err
			}
			methods, err := rt.Interpreted(&f)
			var out strings.Builder
			for _, m := range methods {
				fmt.Fprintf(&out, "%x %x+%d %v %x; ", uint64(m.MethodDesc), p.byteCode, uint64(m.IP)-p.byteCode, m.Exact, uint64(m.Stack))
			}
			return out.String(), err
		}},
	{contract: "StressLog", name: "messages", opens: true, types: "StressLog ThreadStressLog StressLogChunk StressMsgHeader",
		want: "2a 1.500 GC LOADER method {0method} (M) of type {0marked} (System.String); 2a 0.500 GC word -2  |00cd 1099511627776%; 2a 0.000 ALWAYS word 7   |00ab 5%; ",
		read: func(p *tiny, rt *dac.Runtime, _ target.Target) (string, error) { return stressMessages(rt) }},
	{contract: "GC", name: "heap", opens: true, types: "HeapSegment Generation", want: "3 objects, thrown last; 1 finalizable; strong handle of {hello}", from11: true,
		read: func(p *tiny, rt *dac.Runtime, d target.Target) (string, error) {
			h, err := heap.Open(rt, d)
			if err != nil {
				return "", err
			}
			return describe(p, h)
		}},
}

// describe walks a heap, its finalizer queue and its handles.
func describe(p *tiny, h *heap.Heap) (string, error) {
	n, last := 0, target.Addr(0)
	var errs []error
	for o, err := range h.Objects() {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n, last = n+1, o.Addr
	}
	errs = append(errs, h.Unread())
	q, err := h.FinalizerQueue(0)
	errs = append(errs, err)
	e, err := first(h.Handles())
	errs = append(errs, err)
	tail := "thrown last"
	if uint64(last) != p.thrown {
		tail = fmt.Sprintf("%x last", uint64(last))
	}
	return fmt.Sprintf("%d objects, %s; %d finalizable; %s of %x", n, tail, q.Finalizable().Size()/8, e.Type.Words(), uint64(e.Object)), errors.Join(errs...)
}

func first[T any](seq iter.Seq2[T, error]) (T, error) {
	for v, err := range seq {
		return v, err
	}
	var none T
	return none, nil
}

// symbols replaces the names in a text with addresses of the process.
func (p *tiny) symbols(s string) string {
	for name, v := range map[string]uint64{"thread": p.thread, "hello": p.hello, "marked": p.text | 1, "thrown": p.thrown, "module": p.module, "object": p.object, "method": p.method, "code": p.code, "bytes": p.byteCode, "frame": p.frame} {
		s = strings.ReplaceAll(s, "{"+name+"}", fmt.Sprintf("%x", v))
		s = strings.ReplaceAll(s, "{0"+name+"}", fmt.Sprintf("%016x", v))
	}
	return s
}

// each runs f for each reading in the forms of .NET 11 and .NET 10.
func each(t *testing.T, f func(t *testing.T, p *tiny, r *reading)) {
	for _, numbered := range []bool{false, true} {
		for i := range readings {
			r := &readings[i]
			if numbered && r.from11 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s, numbered %v", r.contract, r.name, numbered), func(t *testing.T) { f(t, newTiny(numbered), r) })
		}
	}
}

// TestContracts reads each contract.
func TestContracts(t *testing.T) {
	each(t, func(t *testing.T, p *tiny, r *reading) {
		rt, d, err := p.open(t)
		require.NoError(t, err)
		got, err := r.read(p, rt, d)
		require.NoError(t, err)
		assert.Equal(t, p.symbols(r.want), got)
	})
}

// TestUnknownVersion sets each contract to an unknown version. What depends on it fails with its
// name, and the other readings are unchanged.
func TestUnknownVersion(t *testing.T) {
	each(t, func(t *testing.T, p *tiny, r *reading) {
		contracts := p.contractsWith(r.contract)
		contracts[r.contract] = p.version("c99", 99)
		p.lacks(t, r, fmt.Sprintf("contract %s has version %v", r.contract, contracts[r.contract]))
	})
}

// TestUnnamedContract removes a contract, but not its types, from the descriptor. This is like an
// unknown version, except for a contract that descriptors with numbers do not name.
func TestUnnamedContract(t *testing.T) {
	each(t, func(t *testing.T, p *tiny, r *reading) {
		delete(p.contractsWith(r.contract), r.contract)
		if p.Numbered && r.contract == "SyncBlock" {
			rt, d, err := p.open(t)
			require.NoError(t, err)
			got, err := r.read(p, rt, d)
			require.NoError(t, err)
			assert.Equal(t, p.symbols(r.want), got)
			return
		}
		p.lacks(t, r, fmt.Sprintf("the contract descriptor describes structures of contract %s and does not have its version", r.contract))
	})
}

// TestUnnamedFormats removes contracts without types, which describe formats.
func TestUnnamedFormats(t *testing.T) {
	for contract, f := range map[string]dac.Feature{"DebugInfo": dac.FeatureVariables, "GCInfo": dac.FeatureCodeReferences} {
		p := newTiny(false)
		delete(p.Main.Contracts, contract)
		rt, _, err := p.open(t)
		require.NoError(t, err)
		require.True(t, layout.IsRefused(rt.Check(f)), contract)
		require.ErrorContains(t, rt.Check(f), "contract "+contract)
		unnamed := 0
		for _, c := range rt.Contracts() {
			if c.Name == contract {
				unnamed++
				assert.Equal(t, "", c.Version)
				assert.False(t, c.Implemented)
			}
		}
		assert.Equal(t, 1, unnamed, "%s is in the list of contracts", contract)
		if contract == "DebugInfo" {
			info, err := dac.CodeOf(rt).MethodAt(target.Addr(p.code + 4))
			require.NoError(t, err)
			_, err = dac.CodeOf(rt).ILMap(info)
			require.True(t, layout.IsRefused(err), "%v", err)
			require.ErrorContains(t, err, "contract DebugInfo")
		}

		p = newTiny(true)
		delete(p.Main.Contracts, contract)
		rt, _, err = p.open(t)
		require.NoError(t, err)
		assert.NoError(t, rt.Check(f), "10 does not name %s", contract)
	}
}

// contractsWith returns the contracts of the descriptor that contains a contract.
func (p *tiny) contractsWith(contract string) map[string]any {
	if contract == "GC" {
		return p.GC.Contracts
	}
	return p.Main.Contracts
}

// lacks checks a process without a contract: what depends on it fails with words, and the other
// readings are unchanged.
func (p *tiny) lacks(t *testing.T, r *reading, words string) {
	rt, d, err := p.open(t)
	if r.contract == "RuntimeTypeSystem" || r.contract == "Object" {
		require.ErrorIs(t, err, target.ErrUnsupported)
		require.ErrorContains(t, err, words)
		return
	}
	require.NoError(t, err)
	for i := range readings {
		other := &readings[i]
		if p.Numbered && other.from11 {
			continue
		}
		got, err := other.read(p, rt, d)
		switch {
		case other.contract == r.contract, other.needs == r.contract:
			require.True(t, layout.IsRefused(err), "%s: %v", other.name, err)
			require.ErrorIs(t, err, target.ErrUnsupported)
			require.ErrorContains(t, err, words)
		default:
			assert.NoError(t, err, "%s without %s", other.name, r.contract)
			assert.Equal(t, p.symbols(other.want), got, "%s without %s", other.name, r.contract)
		}
	}
}

// TestMissingType removes the types of a contract from the descriptor of .NET 11. No table replaces
// them.
func TestMissingType(t *testing.T) {
	each(t, func(t *testing.T, p *tiny, r *reading) {
		if p.Numbered {
			return // the tables of 10 have many of them
		}
		for typ := range strings.FieldsSeq(r.types) {
			delete(p.Main.Types, typ)
			delete(p.GC.Types, typ)
		}
		rt, d, err := p.open(t)
		if err == nil {
			_, err = r.read(p, rt, d)
		}
		require.ErrorIs(t, err, target.ErrUnsupported)
	})
}

// TestLyingOffsets sets each member of each type to a wrong offset: nothing panics, and the result
// is an error or a value.
func TestLyingOffsets(t *testing.T) {
	for _, at := range []int{0, 4, 1 << 19} {
		for typ := range newTiny(false).Main.Types {
			p := newTiny(false)
			for field := range p.Main.Types[typ] {
				if field != "!" {
					p.Main.Types[typ][field] = at
				}
			}
			rt, d, err := p.open(t)
			if err != nil {
				require.True(t, errors.Is(err, target.ErrUnsupported) || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrNotInDump), "%s at %d: %v", typ, at, err)
				continue
			}
			for i := range readings {
				_, _ = readings[i].read(p, rt, d)
			}
		}
	}
}

// TestLieIsNamed checks that a wrong type in the descriptor is reported as corrupt, with its place,
// and that the rest is read.
func TestLieIsNamed(t *testing.T) {
	p := newTiny(false)
	p.Main.Types["MethodDescChunk"]["Next"] = 4096
	rt, d, err := p.open(t)
	require.NoError(t, err)
	require.ErrorContains(t, rt.Instance().DescriptorError(), "type MethodDescChunk: the contract descriptor has Next at byte 4096 of a structure of 24 bytes")
	for i := range readings {
		r := &readings[i]
		got, err := r.read(p, rt, d)
		switch r.name {
		case "method", "nibble map", "versions", "versions of IL", "byte code", "IL of byte code":
			require.ErrorIs(t, err, target.ErrCorrupt, r.name)
			continue
		}
		require.NoError(t, err, r.name)
		assert.Equal(t, p.symbols(r.want), got)
	}
}

// TestCollectors reads heaps in each form of GCIdentifiers.
func TestCollectors(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(p *tiny)
		heaps   int
		regions bool
		objects int
	}{
		{"workstation, regions", func(*tiny) {}, 1, true, 3},
		{"workstation, segments", (*tiny).segments, 1, false, 3},
		{"server, regions", (*tiny).server, 2, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTiny(false)
			if c.name == "workstation, segments" {
				p.Set(p.generations, "Generation", members{"StartSegment": 0})
				p.Set(p.generations+2*p.Size("Generation"), "Generation", members{"StartSegment": p.segment})
			}
			c.change(p)
			rt, d, err := p.open(t)
			require.NoError(t, err)
			h, err := heap.Open(rt, d)
			require.NoError(t, err)
			require.Empty(t, h.Warnings())
			assert.Equal(t, c.heaps, len(h.SubHeaps()))
			assert.Equal(t, c.regions, h.Regions())
			assert.Equal(t, c.heaps > 1, h.Server())
			n := 0
			for _, err := range h.Objects() {
				require.NoError(t, err)
				n++
			}
			assert.Equal(t, c.objects, n)
		})
	}
}

// TestCollectorCounters reads the collector's counters through the GC's descriptor: a workstation
// GC has them in variables, a server GC in each heap. Missing counters, or an unexpected number of
// them, are unsupported.
func TestCollectorCounters(t *testing.T) {
	counted := func(list []answer.GCCount) (out []uint64) {
		for _, c := range list {
			out = append(out, c.Count)
		}
		return out
	}
	mechanisms, reasons := []uint64{1, 2, 3, 0, 5, 6}, []uint64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	for name, tt := range map[string]struct {
		change              func(p *tiny)
		mechanisms, reasons []uint64
		lacks               string
	}{
		"workstation": {func(*tiny) {}, mechanisms, reasons, ""},
		"server": {func(p *tiny) {
			p.server()
			delete(p.gc.Globals, "GCHeapCompactReasons")
			p.Words(p.heap+p.Offset("GCHeap.CompactReasons"), 1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11)
			p.Words(p.second+p.Offset("GCHeap.CompactReasons"), 0, 2, 0, 9)
		}, mechanisms, []uint64{1, 2, 3, 9, 5, 6, 7, 8, 9, 10, 11}, ""},
		"another number": {func(p *tiny) { p.gc.Globals["GlobalMechanismsLength"] = 7 }, nil, reasons, "the collector counts 7 kinds, and sosgo knows 6"},
		"no mechanisms":  {func(p *tiny) { delete(p.gc.Globals, "GCGlobalMechanisms") }, nil, reasons, "does not publish"},
		"no reasons":     {func(p *tiny) { delete(p.gc.Globals, "GCHeapCompactReasons") }, mechanisms, nil, "does not publish"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTiny(false)
			at := p.Alloc(256)
			p.Words(at, mechanisms...)
			p.gc.Variable("GCGlobalMechanisms", at)
			p.Words(at+128, reasons...)
			p.gc.Variable("GCHeapCompactReasons", at+128)
			p.Pointer(p.gc, "CurrentGCState", 1)
			p.gc.Globals["GlobalMechanismsLength"], p.gc.Globals["CompactReasonsLength"] = 6, 11
			tt.change(p)
			rt, d, err := p.open(t)
			require.NoError(t, err)
			gc, err := heap.DescribeGC(rt, d)
			require.NoError(t, err)
			assert.Equal(t, tt.mechanisms, counted(gc.Mechanisms))
			assert.Equal(t, tt.reasons, counted(gc.Compactions))
			assert.Equal(t, "planning", gc.State.Background.S)
			assert.False(t, gc.State.InCollection.Value)
			h, err := heap.Open(rt, d)
			require.NoError(t, err)
			assert.True(t, h.InGC(), "dead objects that are not swept yet refer to what is gone")
			var lacks []string
			for _, a := range gc.Absent {
				if a.What == "collections by mechanism" || a.What == "compactions by reason" {
					assert.ErrorIs(t, a.Err, target.ErrUnsupported)
					lacks = append(lacks, a.Reason)
				}
			}
			if tt.lacks == "" {
				assert.Empty(t, lacks)
				return
			}
			require.Len(t, lacks, 1)
			assert.Contains(t, lacks[0], tt.lacks)
		})
	}
}

// TestGCUnpublished reads a process that has not yet published the GC's descriptor: only the heap
// is missing.
func TestGCUnpublished(t *testing.T) {
	p := newTiny(false)
	p.GCUnpublished = true
	rt, d, err := p.open(t)
	require.NoError(t, err)
	require.NoError(t, rt.Instance().DescriptorError(), "that is no error of the descriptor")
	for i := range readings {
		r := &readings[i]
		_, err := r.read(p, rt, d)
		if r.contract == "GC" {
			require.ErrorIs(t, err, target.ErrUnsupported)
			continue
		}
		assert.NoError(t, err, r.name)
	}
}

// TestNames checks that the process uses only names in the descriptors of .NET 11.
func TestNames(t *testing.T) {
	text, err := os.ReadFile("../../files/layout/testdata/names11.txt")
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for i, w := range words {
			if words[0] == "type" && i > 1 {
				known[words[1]+"."+w] = true
			} else if words[0] == "global" {
				known[w] = true
			}
		}
	}
	p := newTiny(false)
	for _, d := range []*synth.CLRDescriptor{p.Main, p.GC} {
		for typ, list := range d.Types {
			for field := range list {
				assert.True(t, known[typ+"."+field], "%s.%s", typ, field)
			}
		}
		for g := range d.Globals {
			assert.True(t, known[g] || strings.HasSuffix(g, "Identifier"), g)
		}
	}
}

// TestThinLock decodes object headers with the masks of the descriptor, or with the bits of the
// table.
func TestThinLock(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		p := newTiny(numbered)
		if numbered {
			for _, g := range []string{"SyncBlockMaskLockThreadId", "SyncBlockMaskLockRecursionLevel", "SyncBlockRecursionLevelShift"} {
				delete(p.Main.Globals, g)
			}
		}
		rt, _, err := p.open(t)
		require.NoError(t, err)
		header, err := rt.ObjectHeader(target.Addr(p.plain))
		require.NoError(t, err)
		lock, held := rt.ThinLock(header)
		assert.True(t, held)
		assert.Equal(t, dac.ThinLock{Owner: 1, Recursion: 2}, lock)
		header, err = rt.ObjectHeader(target.Addr(p.hello))
		require.NoError(t, err)
		_, held = rt.ThinLock(header)
		assert.False(t, held)
		assert.EqualValues(t, 1, header.SyncBlockIndex())
	}
}

// TestDescriptorBeforeTables checks that no table replaces a member in the process's own
// descriptor: members with another offset there have that offset.
func TestDescriptorBeforeTables(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		p := newTiny(numbered)
		rt, _, err := p.open(t)
		require.NoError(t, err)
		for typ, list := range p.Main.Types {
			for field, at := range list {
				if field == "!" {
					continue
				}
				name := field
				if typ+"."+field == "ExceptionInfo.ThrownObject" && !numbered {
					name = "Object" // the name that readers use
				}
				got, err := rt.Layout().Offset(typ, name)
				require.NoError(t, err)
				assert.Equal(t, at, got, "%s.%s", typ, field)
			}
		}
	}
}
