package codeinfo

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// A bitWriter writes the format that a bitReader reads.
type bitWriter struct {
	b []byte
	n int
}

func (w *bitWriter) bits(v uint64, width int) *bitWriter {
	for i := range width {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v>>i&1) << (w.n % 8)
		w.n++
	}
	return w
}

// testBases are group widths that are specific to AMD64.
var testBases = struct{ numRegisters, numSafePoints, stackBase int }{2, 2, 3}

func (w *bitWriter) flag(v bool) *bitWriter {
	if v {
		return w.bits(1, 1)
	}
	return w.bits(0, 1)
}

func (w *bitWriter) uvarint(v uint64, base int) *bitWriter {
	for v>>base != 0 {
		w.bits(v&(1<<base-1)|1<<base, base+1)
		v >>= base
	}
	return w.bits(v, base+1)
}

func (w *bitWriter) varint(v int64, base int) *bitWriter {
	for v < -(1<<(base-1)) || v >= 1<<(base-1) {
		w.bits(uint64(v)&(1<<base-1)|1<<base, base+1)
		v >>= base
	}
	return w.bits(uint64(v)&(1<<base-1), base+1)
}

func (w *bitWriter) align() *bitWriter {
	for w.n%8 != 0 {
		w.bits(0, 1)
	}
	return w
}

// slots writes a table of registers, and of tracked and untracked stack slots at RBP-8, RBP-16 and
// so on.
func (w *bitWriter) slots(registers []target.Reg, stack, untracked int) *bitWriter {
	w.flag(len(registers) > 0)
	if len(registers) > 0 {
		w.uvarint(uint64(len(registers)), testBases.numRegisters)
	}
	w.flag(stack+untracked > 0)
	if stack+untracked > 0 {
		w.uvarint(uint64(stack), baseNumStackSlots).uvarint(uint64(untracked), baseNumUntracked)
	}
	for i, r := range registers {
		if i == 0 {
			w.uvarint(uint64(r), baseRegister).bits(0, 2)
		} else {
			w.uvarint(uint64(r-registers[i-1]-1), baseRegisterDelta)
		}
	}
	w.stack(stack)
	return w.stack(untracked)
}

func (w *bitWriter) stack(n int) *bitWriter {
	for i := range n {
		w.bits(uint64(BaseFrame), 2)
		if i == 0 {
			w.varint(int64(-n), baseStackSlot).bits(0, 2)
		} else {
			w.uvarint(1, baseStackSlotDelta)
		}
	}
	return w
}

// slim writes a header of version 4 with a frame pointer.
func slim(code uint32, points int) *bitWriter {
	w := &bitWriter{}
	return w.bits(0, 1).bits(1, 1).uvarint(uint64(code), baseCodeLength).uvarint(uint64(points), testBases.numSafePoints)
}

// fat writes a header of version 4 with a frame pointer, no safe points and
// the given ranges.
func fat(code uint32, ranges ...CodeRange) *bitWriter {
	w := &bitWriter{}
	w.bits(1, 1).bits(headerStackBase|headerReportLeafOnly, headerBits).uvarint(uint64(code), baseCodeLength)
	w.uvarint(0, testBases.stackBase).uvarint(2, baseStackArea).uvarint(0, testBases.numSafePoints)
	w.uvarint(uint64(len(ranges)), baseNumRanges)
	last := uint32(0)
	for _, r := range ranges {
		w.uvarint(uint64(r.Start-last), baseRange).uvarint(uint64(r.End-r.Start-1), baseRange)
		last = r.End
	}
	return w
}

func names(slots []Slot) []string {
	out := []string{}
	for _, s := range slots {
		out = append(out, s.String())
	}
	return out
}

func TestHeader(t *testing.T) {
	// All fields of a header, in each version.
	for version := 2; version <= 4; version++ {
		w := &bitWriter{}
		flags := uint64(headerVarArg | headerGSCookie | headerPSPSym | uint64(ContextMethodDesc)<<headerContextShift |
			headerStackBase | headerReportLeafOnly | headerEnC | headerReversePInvoke)
		w.bits(1, 1).bits(flags, headerBits)
		if version < 4 {
			w.bits(0b0110, returnKindBitsFat)
		}
		w.uvarint(0x1234, baseCodeLength).uvarint(0x20, basePrologSize).uvarint(0x10, baseEpilogSize)
		w.varint(-3, baseStackSlotHeader)
		if version < 4 {
			w.varint(4, baseStackSlotHeader)
		}
		w.varint(-100, baseStackSlotHeader).uvarint(uint64(uint32(target.RBP)^uint32(target.R13)), testBases.stackBase)
		w.uvarint(77, baseEnCArea).varint(-6, baseStackSlotHeader).uvarint(5, baseStackArea)
		w.uvarint(0, testBases.numSafePoints).uvarint(0, baseNumRanges).flag(false).flag(false)

		var d GCDecoder
		require.NoError(t, d.Reset(w.b, version))
		want := GCHeader{
			Version: version, VarArg: true, ReportLeafOnly: true, CodeLength: 0x1234, PrologSize: 0x21,
			GSCookie: StackOffset{-24, true}, GSCookieRange: CodeRange{0x21, 0x1224},
			Context: ContextMethodDesc, ContextSlot: StackOffset{-800, true}, ReversePInvokeFrame: StackOffset{-48, true},
			StackBase: target.R13, HasStackBase: true, EnCArea: 77, HasEnCArea: true, OutgoingArea: 40,
		}
		if version < 4 {
			want.PSPSym, want.Return, want.HasReturn = StackOffset{32, true}, 6, true
			assert.Equal(t, "{ByRef, Object}", d.Return.String())
		}
		assert.Equal(t, want, d.GCHeader)
	}
}

func TestSafePoints(t *testing.T) {
	w := slim(100, 3).bits(10, 7).bits(20, 7).bits(99, 7)
	w.slots([]target.Reg{target.RAX, target.RBX}, 2, 1)
	w.flag(false).bits(0b0101, 4).bits(0b0010, 4).bits(0b1000, 4)
	var d GCDecoder
	require.NoError(t, d.Reset(w.b, 4))
	assert.True(t, d.Slim)
	assert.Equal(t, []uint32{10, 20, 99}, d.SafePointOffsets())
	for _, test := range []struct {
		name  string
		query Query
		want  []string
	}{
		{"scratch", Query{Offset: 10}, []string{"rbp-10", "rbp-8"}},
		{"active", Query{Offset: 10, State: ActiveFrame}, []string{"rax", "rbp-10", "rbp-8"}},
		{"preserved", Query{Offset: 20}, []string{"rbx", "rbp-8"}},
		{"last", Query{Offset: 99}, []string{"rbp-8", "rbp-8"}},
		{"none", Query{Offset: 50}, []string{"rbp-8"}},
		{"aborted without interruptible code", Query{Offset: 10, State: ExecutionAborted}, []string{"rbp-8"}},
		{"aborted filter", Query{Offset: 10, State: ExecutionAborted | NoUntracked}, []string{}},
		{"parent", Query{Offset: 20, State: ParentOfFunclet}, []string{"rbx"}},
		{"no untracked", Query{Offset: 20, State: NoUntracked}, []string{"rbx"}},
		{"frame only", Query{Offset: 20, State: FrameSlotsOnly}, []string{"rbp-8"}},
	} {
		live, err := d.LiveSlots(nil, test.query)
		require.NoError(t, err)
		assert.Equal(t, test.want, names(live), test.name)
	}
	all, err := d.LiveAtSafePoint(nil, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"rax", "rbp-10"}, names(all))
}

// TestReturnAddress: before version 4 a caller looks up the byte before its return address. In
// version 3 an active frame at a safe point does so, too.
func TestReturnAddress(t *testing.T) {
	w := &bitWriter{}
	w.bits(0, 1).bits(1, 1).bits(0, returnKindBitsSlim).uvarint(100, baseCodeLength).uvarint(1, testBases.numSafePoints)
	w.bits(9, 7).slots([]target.Reg{target.RBX}, 0, 0).flag(false).bits(1, 1)
	for _, test := range []struct {
		version int
		query   Query
		want    int
	}{
		{2, Query{Offset: 10}, 1},
		{2, Query{Offset: 9}, 0},
		{2, Query{Offset: 10, State: ActiveFrame}, 0},
		{2, Query{Offset: 9, State: ActiveFrame}, 1},
		{3, Query{Offset: 10}, 1},
		{3, Query{Offset: 10, State: ActiveFrame}, 1},
	} {
		var d GCDecoder
		require.NoError(t, d.Reset(w.b, test.version))
		assert.Equal(t, []uint32{10}, d.SafePointOffsets())
		live, err := d.LiveSlots(nil, test.query)
		require.NoError(t, err)
		assert.Len(t, live, test.want, "version %d %+v", test.version, test.query)
	}
}

// TestIndirectStates: states of safe points as runs and as bits, found through offsets.
func TestIndirectStates(t *testing.T) {
	const slots = 12
	states := &bitWriter{}
	// Two dead slots, three live ones, one dead one, the rest is live.
	states.bits(1, 1).bits(0, 1).uvarint(2, baseSkip).uvarint(2, baseRun).uvarint(0, baseSkip).uvarint(5, baseRun)
	second := states.n
	// The opposite: short dead runs.
	states.bits(1, 1).bits(1, 1).uvarint(0, baseRun).uvarint(0, baseSkip).uvarint(10, baseRun)
	third := states.n
	states.bits(0, 1).bits(0b100000000001, slots)

	w := slim(64, 3).bits(1, 6).bits(2, 6).bits(3, 6).slots(nil, slots, 0)
	w.flag(true).uvarint(7, basePointerSize).bits(0, 8).bits(uint64(second), 8).bits(uint64(third), 8).align()
	for i := range states.n {
		w.bits(uint64(states.b[i/8]>>(i%8)), 1)
	}
	var d GCDecoder
	require.NoError(t, d.Reset(w.b, 4))
	index := func(offset uint32) (out []int) {
		live, err := d.LiveSlots(nil, Query{Offset: offset})
		require.NoError(t, err)
		for _, s := range live {
			out = append(out, slices.Index(d.Slots(), s))
		}
		return out
	}
	assert.Equal(t, []int{2, 3, 4, 6, 7, 8, 9, 10, 11}, index(1))
	assert.Equal(t, []int{0}, index(2))
	assert.Equal(t, []int{0, 11}, index(3))
}

// interruptibleInfo has 150 bytes of interruptible code in two ranges. The second of its three
// chunks has no states.
func interruptibleInfo() []byte {
	chunks := &bitWriter{}
	// Chunk 0: slots 0 and 2. At the end 0 is live and 2 is not. 0 starts at 5; 2 is live from the
	// start to 30 and from 40 to 41.
	chunks.bits(0, 1).bits(0b101, 3).bits(0b01, 2)
	chunks.bits(1, 1).bits(5, 6).bits(0, 1)
	chunks.bits(1, 1).bits(30, 6).bits(1, 1).bits(40, 6).bits(1, 1).bits(41, 6).bits(0, 1)
	third := chunks.n
	// Chunk 2: slot 1 is live at the end, from its offset 2 on.
	chunks.bits(0, 1).bits(0b010, 3).bits(1, 1).bits(1, 1).bits(2, 6).bits(0, 1)

	w := fat(300, CodeRange{10, 60}, CodeRange{100, 200})
	w.slots([]target.Reg{target.RAX, target.RBX}, 1, 1)
	w.uvarint(8, basePointerSize).bits(1, 8).bits(0, 8).bits(uint64(third)+1, 8).align()
	for i := range chunks.n {
		w.bits(uint64(chunks.b[i/8]>>(i%8)), 1)
	}
	return w.b
}

func TestInterruptible(t *testing.T) {
	var d GCDecoder
	require.NoError(t, d.Reset(interruptibleInfo(), 4))
	assert.Equal(t, []CodeRange{{10, 60}, {100, 200}}, d.Interruptible())
	live := func(offset uint32) []string {
		out, err := d.LiveSlots(nil, Query{Offset: offset, State: ActiveFrame | ExecutionAborted | NoUntracked})
		require.NoError(t, err)
		return names(out)
	}
	stack := "rbp-8"
	for _, test := range []struct {
		offset uint32
		want   []string
	}{
		{9, []string{}},
		{10, []string{stack}},
		{14, []string{stack}},
		{15, []string{"rax", stack}},
		{39, []string{"rax", stack}}, // position 29
		{40, []string{"rax"}},
		{50, []string{"rax", stack}},
		{51, []string{"rax"}},
		{60, []string{}},
		{100, []string{"rax"}}, // position 50
		{113, []string{"rax"}}, // position 63
		{114, []string{"rax"}}, // position 64: the second chunk, as the first ended
		{178, []string{}},      // position 128: the third chunk
		{180, []string{"rbx"}}, // position 130
		{199, []string{"rbx"}}, // position 149
		{200, []string{}},
		{299, []string{}},
	} {
		assert.Equal(t, test.want, live(test.offset), "offset %d", test.offset)
	}
	changes, err := d.ChangeOffsets()
	require.NoError(t, err)
	assert.Equal(t, []uint32{10, 15, 40, 50, 51, 60, 100, 178, 180, 200}, changes)

	// At every offset the last change has the state.
	state := []string{}
	at := slices.Clone(changes)
	for offset := range uint32(300) {
		if slices.Contains(at, offset) {
			state = live(offset)
		}
		assert.Equal(t, state, live(offset), "offset %d", offset)
	}

	aborted, err := d.LiveSlots(nil, Query{Offset: 70, State: ExecutionAborted})
	require.NoError(t, err)
	assert.Empty(t, aborted, "between the interruptible ranges")

	parent, err := d.LiveSlots(nil, Query{Offset: 15, State: ParentOfFunclet})
	require.NoError(t, err)
	assert.Empty(t, parent, "only the leaf reports")
}

func TestSlotTable(t *testing.T) {
	w := slim(10, 0)
	w.flag(true).uvarint(3, testBases.numRegisters)
	w.flag(true).uvarint(2, baseNumStackSlots).uvarint(1, baseNumUntracked)
	w.uvarint(3, baseRegister).bits(uint64(SlotInterior), 2) // with flags, so the next register is stored in full
	w.uvarint(0, baseRegister).bits(0, 2)
	w.uvarint(5, baseRegisterDelta)
	w.bits(uint64(BaseSP), 2).varint(4, baseStackSlot).bits(uint64(SlotPinned|SlotInterior), 2)
	w.bits(uint64(BaseCallerSP), 2).varint(-2, baseStackSlot).bits(0, 2)
	w.bits(uint64(BaseFrame), 2).varint(-1000, baseStackSlot).bits(0, 2)
	var d GCDecoder
	require.NoError(t, d.Reset(w.b, 4))
	assert.Equal(t, []Slot{
		{Base: BaseRegister, Reg: target.RBX, Flags: SlotInterior},
		{Base: BaseRegister, Reg: target.RAX},
		{Base: BaseRegister, Reg: target.RSI},
		{Base: BaseSP, Offset: 32, Flags: SlotPinned | SlotInterior},
		{Base: BaseCallerSP, Offset: -16},
		{Base: BaseFrame, Reg: target.RBP, Offset: -8000, Flags: SlotUntracked},
	}, d.Slots())
	assert.Equal(t, []string{"rbx", "rax", "rsi", "rsp+20", "caller.sp-10", "rbp-1f40"}, names(d.Slots()))
	assert.Equal(t, "(pinned)(interior)", d.Slots()[3].Flags.String())
	assert.Equal(t, "(untracked)", d.Slots()[5].Flags.String())

	regs := &target.Registers{Arch: target.ArchAMD64}
	regs.Set(target.RSP, 0x1000)
	for i, want := range []target.Addr{0, 0, 0, 0x1020, 0x1ff0, 0} {
		a, ok := d.Slots()[i].Address(regs, 0x2000)
		assert.Equal(t, want != 0, ok, i)
		if ok {
			assert.Equal(t, want, a, i)
		}
	}
}

// TestLyingGCInfo: numbers that contradict each other or the length.
func TestLyingGCInfo(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func() *bitWriter
	}{
		{"no code", func() *bitWriter { return slim(0, 0).bits(0, 2) }},
		{"code of 4 GB", func() *bitWriter { return slim(math.MaxUint32, 0).bits(0, 2) }},
		{"code length of more than 32 bits", func() *bitWriter {
			return (&bitWriter{}).bits(0b10, 2).uvarint(1<<33, baseCodeLength).bits(0, 64)
		}},
		{"more safe points than bytes", func() *bitWriter { return slim(10, 11).bits(0, 64) }},
		{"safe points past the end", func() *bitWriter { return slim(1<<20, 1000) }},
		{"range past the code", func() *bitWriter { return fat(100, CodeRange{50, 101}).bits(0, 2) }},
		{"a billion ranges", func() *bitWriter {
			w := (&bitWriter{}).bits(1, 1).bits(0, headerBits).uvarint(100, baseCodeLength).uvarint(0, baseStackArea)
			return w.uvarint(0, testBases.numSafePoints).uvarint(1<<30, baseNumRanges).bits(0, 64)
		}},
		{"a billion slots", func() *bitWriter {
			return slim(10, 0).flag(true).uvarint(1<<30, testBases.numRegisters).flag(false).bits(0, 64)
		}},
		{"slots past the end", func() *bitWriter {
			return slim(10, 0).flag(true).uvarint(1000, testBases.numRegisters).flag(false).bits(0, 64)
		}},
		{"rsp holds a reference", func() *bitWriter { return slim(10, 0).slots([]target.Reg{target.RSP}, 0, 0) }},
		{"register 20", func() *bitWriter { return slim(10, 0).slots([]target.Reg{20}, 0, 0) }},
		{"frame slot without a frame", func() *bitWriter {
			return (&bitWriter{}).bits(0, 2).uvarint(10, baseCodeLength).uvarint(0, testBases.numSafePoints).slots(nil, 1, 0)
		}},
		{"base 3", func() *bitWriter {
			return slim(10, 0).flag(false).flag(true).uvarint(1, baseNumStackSlots).uvarint(0, baseNumUntracked).bits(3, 2).bits(0, 9)
		}},
		{"frame register 30", func() *bitWriter {
			w := (&bitWriter{}).bits(1, 1).bits(headerStackBase, headerBits).uvarint(10, baseCodeLength)
			return w.uvarint(30, testBases.stackBase).bits(0, 64)
		}},
		{"epilog longer than the code", func() *bitWriter {
			w := (&bitWriter{}).bits(1, 1).bits(headerGSCookie, headerBits).uvarint(10, baseCodeLength)
			return w.uvarint(0, basePrologSize).uvarint(10, baseEpilogSize).bits(0, 64)
		}},
		{"nothing", func() *bitWriter { return &bitWriter{} }},
	} {
		var d GCDecoder
		assert.ErrorIs(t, d.Reset(test.write().b, 4), target.ErrCorrupt, test.name)
	}
	var d GCDecoder
	for _, version := range []int{0, 1, 5, -1} {
		assert.ErrorIs(t, d.Reset(slim(10, 0).bits(0, 2).b, version), target.ErrUnsupported)
	}
}

// TestTruncatedGCInfo: every prefix decodes or is corrupt, and never yields other slots than the
// whole.
func TestTruncatedGCInfo(t *testing.T) {
	whole := interruptibleInfo()
	var d GCDecoder
	for n := range whole {
		err := d.Reset(whole[:n], 4)
		if err != nil {
			assert.ErrorIs(t, err, target.ErrCorrupt)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			continue
		}
		live, err := d.LiveSlots(nil, Query{Offset: 199, State: ActiveFrame})
		if n < len(whole)-1 {
			assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
			assert.Empty(t, live)
		}
	}
}

// parts is a memory that lends its bytes in two pieces.
type parts struct {
	b   []byte
	cut int
	end int
}

func (p *parts) ReadMemory(out []byte, a target.Addr) (int, error) {
	n := 0
	if int(a) < p.end {
		n = copy(out, p.b[a:p.end])
	}
	if n < len(out) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(out) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (p *parts) View(a target.Addr, n int) ([]byte, bool) {
	s := p.Span(a)
	if len(s) < n {
		return nil, false
	}
	return s[:n], true
}

func (p *parts) Span(a target.Addr) []byte {
	switch {
	case int(a) < p.cut:
		return p.b[a:p.cut]
	case int(a) < p.end:
		return p.b[a:p.end]
	}
	return nil
}

// TestMemory reads GC info that is in two pieces of memory, or only partly in the dump.
func TestMemory(t *testing.T) {
	const at = 16
	whole := append(make([]byte, at), interruptibleInfo()...)
	var want, d GCDecoder
	require.NoError(t, want.Reset(whole[at:], 4))
	q := Query{Offset: 199, State: ActiveFrame}
	expect, err := want.LiveSlots(nil, q)
	require.NoError(t, err)
	for cut := at + 1; cut < len(whole); cut++ {
		require.NoError(t, d.ResetAt(&parts{whole, cut, len(whole)}, at, 4), "cut at %d", cut)
		live, err := d.LiveSlots(nil, q)
		require.NoError(t, err)
		assert.Equal(t, expect, live)
		_, err = d.ChangeOffsets()
		require.NoError(t, err)

		err = d.ResetAt(&parts{whole, cut, cut}, at, 4)
		if err == nil {
			_, err = d.LiveSlots(nil, q)
		}
		if cut < len(whole)-1 {
			assert.ErrorIs(t, err, target.ErrNotInDump, "%d bytes", cut-at)
			assert.NotErrorIs(t, err, target.ErrCorrupt)
		}
	}
	assert.ErrorIs(t, d.ResetAt(&parts{whole, 0, 0}, at, 4), target.ErrNotInDump)
}

func TestVersionOfImage(t *testing.T) {
	for major, want := range map[uint16]int{2: 3, 9: 3, 10: 3, 11: 4, 16: 4} {
		assert.Equal(t, want, GCInfoVersionReadyToRun(major))
	}
}

func FuzzGCInfo(f *testing.F) {
	f.Add(interruptibleInfo(), 4, uint32(199))
	f.Add(slim(100, 1).bits(10, 7).slots([]target.Reg{target.RAX}, 2, 1).bits(0, 8).b, 4, uint32(10))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 2, uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, version int, offset uint32) {
		d := GCDecoder{Arch: []target.Arch{target.ArchAMD64, target.ArchARM64}[offset>>8&1]}
		if err := d.Reset(b, version); err != nil {
			checkSentinel(t, err)
			return
		}
		limit := 8 * len(b)
		if len(d.Slots()) > limit || len(d.Interruptible()) > limit {
			t.Fatal("more things than bits")
		}
		for state := range FrameState(32) {
			live, err := d.LiveSlots(nil, Query{Offset: offset, State: state})
			checkSentinel(t, err)
			if len(live) > len(d.Slots()) {
				t.Fatal("more live slots than slots")
			}
		}
		changes, err := d.ChangeOffsets()
		checkSentinel(t, err)
		if !slices.IsSorted(changes) {
			t.Fatal("offsets don't ascend")
		}
		for i := range min(d.SafePoints, 100) {
			_, err := d.LiveAtSafePoint(nil, i)
			checkSentinel(t, err)
		}
	})
}

func checkSentinel(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
		t.Fatalf("error without a sentinel: %v", err)
	}
}

func BenchmarkLiveSlots(b *testing.B) {
	info := interruptibleInfo()
	var d GCDecoder
	var live []Slot
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Reset(info, 4); err != nil {
			b.Fatal(err)
		}
		var err error
		if live, err = d.LiveSlots(live[:0], Query{Offset: 180, State: ActiveFrame}); err != nil || len(live) == 0 {
			b.Fatal(err)
		}
	}
}

// TestARM64: ARM64 has its own widths, lengths in instructions, and since version 4 offsets in
// instructions. A frame reports nothing after one of its funclets, although the flag for it has
// another meaning.
func TestARM64(t *testing.T) {
	for _, c := range []struct {
		version int
		unit    uint // of offsets
	}{{2, 0}, {3, 0}, {4, 2}} {
		flags := uint64(ContextMethodTable)<<headerContextShift | headerStackBase
		if c.version == 3 {
			flags |= headerReportLeafOnly
		}
		w := (&bitWriter{}).bits(1, 1).bits(flags, headerBits)
		if c.version < 4 {
			w.bits(0, returnKindBitsFat)
		}
		w.uvarint(0x400/4, baseCodeLength).uvarint(0x20>>c.unit-1, basePrologSize).varint(-3, baseStackSlotHeader)
		w.uvarint(uint64(target.ARM64FP^(target.ARM64X0+19)), 2).uvarint(2, baseStackArea)
		w.uvarint(2, 3).uvarint(1, baseNumRanges)
		width := int(ceilLog2(0x400 >> c.unit))
		stored := func(offset uint64) uint64 { return (offset - 1) >> c.unit }
		if c.version >= 4 {
			stored = func(offset uint64) uint64 { return offset >> c.unit }
		}
		w.bits(stored(0x44), width).bits(stored(0x80), width)
		w.uvarint(0x100>>c.unit, baseRange).uvarint(0x200>>c.unit-1, baseRange)
		w.flag(true).uvarint(2, 3).flag(false) // registers X19 and X0+21
		w.uvarint(19, baseRegister).bits(0, 2).uvarint(1, baseRegisterDelta)
		w.flag(false)                 // no indirections
		w.bits(0b10, 2).bits(0b01, 2) // live at the points: X21, then X19
		w.uvarint(4, basePointerSize)
		chunks := 0x200 >> c.unit / chunkSize
		w.bits(1, 4)
		for range chunks - 1 {
			w.bits(0, 4)
		}
		w.align()
		w.flag(false).bits(0b11, 2).bits(0b01, 2)               // both change or are live; X19 is live at the end
		w.flag(true).bits(8>>c.unit, 6).flag(false).flag(false) // X19 from 8 bytes after the start on
		w.align().bits(0, 32)

		d := GCDecoder{Arch: target.ArchARM64}
		require.NoError(t, d.Reset(w.b, c.version))
		assert.True(t, d.HasTailCallBit())
		want := GCHeader{Version: c.version, ReportLeafOnly: true, TailCalls: c.version == 3, HasReturn: c.version < 4, CodeLength: 0x400, PrologSize: 0x20,
			Context: ContextMethodTable, ContextSlot: StackOffset{-24, true}, StackBase: target.ARM64X0 + 19, HasStackBase: true,
			OutgoingArea: 16, SafePoints: 2}
		assert.Equal(t, want, d.GCHeader)
		assert.Equal(t, []uint32{0x44, 0x80}, d.SafePointOffsets())
		assert.Equal(t, []CodeRange{{0x100, 0x300}}, d.Interruptible())
		assert.Equal(t, []string{"x19", "x21"}, names(d.Slots()))
		for offset, live := range map[uint32][]string{0x44: {"x21"}, 0x80: {"x19"}, 0x84: {}, 0x104: {}, 0x10c: {"x19"}, 0x200: {"x19"}} {
			got, err := d.LiveSlots(nil, Query{Offset: offset, State: ActiveFrame})
			if c.version < 4 && offset < 0x100 { // an active frame of a method with ranges is at no safe point
				got, err = d.LiveSlots(nil, Query{Offset: offset})
			}
			require.NoError(t, err)
			assert.Equal(t, live, names(got), "version %d at %#x", c.version, offset)
		}
		n, err := codeLength(w.b, target.ArchARM64, c.version)
		assert.NoError(t, err)
		assert.EqualValues(t, 0x400, n)
	}
	d := GCDecoder{Arch: target.ArchRISCV64}
	assert.ErrorIs(t, d.Reset([]byte{0}, 4), target.ErrUnsupported)
}
