package crash_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// record writes an EXCEPTION_RECORD at a.
func (p *faulty) record(a target.Addr, code, flags uint32, at target.Addr, parameters ...uint64) {
	p.word(a, uint64(flags)<<32|uint64(code))
	p.word(a+0x10, uint64(at))
	p.word(a+0x18, uint64(len(parameters)))
	for i, v := range parameters {
		p.word(a+0x20+target.Addr(8*i), v)
	}
}

// registers writes a CONTEXT in front of the record at a, as the system does.
func (p *faulty) registers(a, ip, sp target.Addr) {
	a -= 1232 + 0x20
	p.set(a+0x30, 0x0b, 0x00, 0x10, 0x00)
	p.word(a+0x98, uint64(sp))
	p.word(a+0xf8, uint64(ip))
}

// TestRecordOnStack finds a native fault in a dump written by the runtime on Windows. The dump has no record, and the
// thread's exception is the runtime's preallocated one for fatal errors.
func TestRecordOnStack(t *testing.T) {
	p, subject, rt, died := openFaultyOf(t, "win-net10-zoo")
	const engine = 0x7fb49a000178
	name, err := rt.ObjectTypeName(engine)
	require.NoError(t, err)
	require.Equal(t, "System.ExecutionEngineException", name)
	died.Managed.LastThrown = engine
	innermost := target.Addr(0)
	for f := range stackwalk.NewWalker(rt).Walk(t.Context(), died.Managed, died.OS.Registers, stackwalk.WalkOptions{}) {
		innermost = f.SP
		break
	}
	require.NotZero(t, innermost)
	p.other = target.Range{Start: innermost - 0x4000, End: innermost}
	regs := died.OS.Registers
	regs.SetSP(p.other.Start)
	died.OS = &target.Thread{ID: died.OS.ID, Registers: regs}
	describe := func() *answer.Crash {
		return crash.DescribeSubject(t.Context(), subject())
	}
	last := func(x *answer.Crash) *answer.Verdict { return &x.Verdicts[len(x.Verdicts)-1] }

	x := describe()
	assert.Contains(t, x.Likely, "a fault in native code, or an error in the runtime itself")
	assert.Equal(t, "the runtime ended the process because of a fatal error", last(x).Text)
	assert.Equal(t, answer.StrengthProved, last(x).Strength)
	for _, v := range x.Verdicts {
		assert.NotContains(t, v.Text, "ExecutionEngineException")
	}

	// The runtime's own later record has no parameters. The record of a function call has impossible ones.
	var native target.Module
	for _, m := range p.Modules() {
		if strings.Contains(strings.ToLower(m.Path), "hostfxr") {
			native = m
		}
	}
	require.NotZero(t, native.Base)
	ip := native.Base + 0x1234
	const code = 0xc0000005
	p.record(innermost-0x3000, 0xc000001d, 1, rt.Instance().Module.Base+0x4000)
	p.record(innermost-0x800, code, 0, ip, 7, 0x10)
	p.record(innermost-0x900, code, 0, 0x12345, 1, 0x10)
	p.record(innermost-0xa00, code, 2, ip, 1, 0x10)
	assert.Contains(t, describe().Likely, "coreclr.dll+0x4000 raised an exception: an illegal instruction")
	p.record(innermost-0x1000, code, 0, ip, 1, 0x7770)
	x = describe()
	assert.Regexp(t, `^hostfxr.dll\+0x1234 accessed 0x7770 \(write\), called from System\.Threading`, x.Likely)
	assert.Equal(t, "access to memory that is not accessible to the process (access violation)", x.Reason)
	assert.Equal(t, "hostfxr.dll+0x1234", x.Where)
	require.NotNil(t, x.Touched)
	assert.Equal(t, target.Addr(0x7770), x.Touched.Address)
	require.Len(t, x.Records, 1)
	assert.Equal(t, answer.StrengthLikely, last(x).Strength)
	assert.NotContains(t, strings.Join(last(x).Evidence, "\n"), "registers of the fault")

	p.record(innermost-0x2000, code, 0, ip+1, 0, 0x8)
	p.registers(innermost-0x2000, ip+1, innermost-0x1fc0)
	x = describe()
	assert.Contains(t, x.Likely, "hostfxr.dll+0x1235 accessed 0x8 (read)", "the one with registers")
	assert.Contains(t, strings.Join(last(x).Evidence, "\n"), "with the registers of the fault beside it")
	assert.Equal(t, answer.Known(ip+1), x.Contexts[0].IP)
}

// TestDied checks that without a record in the dump the thread with the unhandled exception is the one that died.
func TestDied(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	id, ok := crash.ThreadID(d.Target())
	require.True(t, ok)
	quiet, err := process.OpenTarget(&faulty{Target: d.Target()}, process.Options{Offline: true})
	require.NoError(t, err)
	defer quiet.Close()
	got, ok := crash.Died(quiet.Default())
	assert.True(t, ok)
	assert.Equal(t, id, got)
	alive := testdump.Open(t, "net10-zoo")
	_, ok = crash.Died(alive.Default())
	assert.False(t, ok)
}

// TestMessageOfReport finds the message of FailFast in the text for the event log.
func TestMessageOfReport(t *testing.T) {
	p, subject, rt, died := openFaultyOf(t, "win-net10-zoo")
	p.other = target.Range{Start: 0x20000, End: 0x24000} // below the frames
	died.OS.Registers.SetSP(p.other.Start)
	p.set(p.other.Start+0x400, utf16le("Description: The application requested process termination.\nMessage: out of \u00fcbung\nand more\nStack:\n   at X\n")...)
	x := crash.FailFastAt(subject(), rt, stackwalk.NewWalker(rt), died, &stackwalk.Frame{SP: p.other.Start + 0x2000})
	assert.Equal(t, "out of \u00fcbung\nand more", x.Message.S)
	assert.Equal(t, answer.StrengthLikely, x.Strength)
	clear(p.bytes)
	x = crash.FailFastAt(subject(), rt, stackwalk.NewWalker(rt), died, &stackwalk.Frame{SP: p.other.Start + 0x2000})
	assert.ErrorIs(t, x.Message.Err, target.ErrNotInDump)
}

func utf16le(s string) []byte {
	var b []byte
	for _, c := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}
