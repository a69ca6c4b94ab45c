package crashreport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// The reports in testdata are handmade in the writers' formats: createdump of .NET 8 on Linux and
// .NET 10 on macOS, and the runtime of .NET 11.
const (
	net8  = "testdata/net8-x64.crashreport.json"
	net10 = "testdata/net10-arm64-overflow.crashreport.json"
	net11 = "testdata/net11-inprocess.crashreport.json"
)

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

func open(t *testing.T, text string) *crashreport.Report {
	t.Helper()
	r, err := crashreport.Open(target.BytesSource([]byte(text)), target.Limits{})
	require.NoError(t, err)
	return r
}

func frames(t *testing.T, r *crashreport.Report, o crashreport.StackOptions) (out []string) {
	t.Helper()
	for f, err := range r.Stacks(context.Background(), o).Frames {
		require.NoError(t, err)
		assert.Equal(t, answer.TrustReport, f.Trust)
		name := f.NativeName()
		if f.Kind == answer.FrameManaged {
			name = f.Method.String()
		}
		if f.Cycle > 0 {
			name = fmt.Sprintf("%d times %d: %s", f.Repeat, f.Cycle, name)
		}
		out = append(out, name)
	}
	return out
}

// TestCreatedump: a report of createdump has threads with registers and exceptions, and the modules
// of frames.
func TestCreatedump(t *testing.T) {
	r := open(t, file(t, net8))
	assert.Empty(t, r.Warnings())
	assert.Equal(t, target.Platform{OS: target.OSLinux, Arch: target.ArchAMD64}, r.Platform())
	assert.Equal(t, "Shop", r.Process().Command)
	list := r.Threads()
	require.Len(t, list, 3)
	ip, _ := list[0].Registers.IP()
	assert.Equal(t, target.Addr(0x7f2a2009eb2c), ip)
	assert.Equal(t, []string{"libc.so.6!pthread_kill+0x11c", "libc.so.6!raise+0x1e", "libcoreclr.so+0x5a1234", "Shop.Orders.Submit(Int32, System.String)",
		"Shop.Program.Main(System.String[])", "libcoreclr.so+0x6b0000"}, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x4d2}, Native: true}))
	one := 1
	assert.Equal(t, []string{"Shop.Orders.Submit(Int32, System.String)"}, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x4d2}, Limit: &one}))
	assert.Equal(t, []string{"libc.so.6+0x98d61", "libcoreclr.so+0x3c0010"}, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x4d3}}),
		"a thread without managed frames")
	assert.Equal(t, []string{"System.Threading.Monitor.Wait(System.Object, Int32)", "<not in dump>"}, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x4d9}}))

	var names []string
	for _, m := range r.Modules() {
		names = append(names, fmt.Sprintf("%x+%x %s %x", uint64(m.Base), m.Size, m.Path, m.TimeDateStamp))
	}
	assert.Equal(t, []string{"7f29d0000000+c00000 System.Private.CoreLib.dll a1b2c3d4", "7f29e0000000+8000 Shop.dll 90b1c2d3",
		"7f2a10000000+6b0001 libcoreclr.so 0", "7f2a20000000+9eb2d libc.so.6 0"}, names)

	x := r.Crash()
	assert.Equal(t, uint32(0x4d2), x.ThreadID)
	assert.Equal(t, "the process crashed; the report has no signal", x.Reason)
	require.Len(t, x.Exceptions, 1)
	assert.Equal(t, "System.InvalidOperationException", x.Exceptions[0].Type.S)
	assert.Equal(t, answer.Hex(0x80131509), x.Exceptions[0].HResult)
	assert.Len(t, x.Carried, 2)
	assert.Equal(t, "libc.so.6!pthread_kill+0x11c", x.Contexts[0].Where)

	_, err := r.ReadMemory(make([]byte, 1), 0x7f2a20000000)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestOverflow: repeated frames of a stack overflow are listed once, with a count.
func TestOverflow(t *testing.T) {
	r := open(t, file(t, net10))
	assert.Equal(t, target.Platform{OS: target.OSDarwin, Arch: target.ArchARM64, OSVersion: "15.1"}, r.Platform())
	assert.Equal(t, []string{"5230 times 2: Deep.Program.Odd(Int32)", "Deep.Program.Even(Int32)", "Deep.Program.Main(System.String[])"},
		frames(t, r, crashreport.StackOptions{Threads: []uint32{0x103}}))
	x := r.Crash()
	assert.Equal(t, "managed exception", x.Reason)
	assert.Equal(t, 2*5230+1, x.Frames)
}

// TestInProcess: the runtime's own reports have the signal, the process id and the registers of the
// crashed thread, but no addresses of modules.
func TestInProcess(t *testing.T) {
	r := open(t, file(t, net11))
	assert.Equal(t, uint32(4711), r.Process().ID)
	x := r.Crash()
	assert.Equal(t, "SIGSEGV", x.Reason)
	assert.Equal(t, int32(11), x.Signal.Number)
	assert.Equal(t, target.Addr(0), x.Exceptions[0].Address)
	assert.False(t, r.Threads()[1].Registers.Known())
	assert.Empty(t, r.Modules())
	assert.ErrorContains(t, r.ModulesNote(), "of 2 no address")
	assert.Equal(t, []string{"[code in no module]", "Shop.Cart.Add", "[code in no module]"}, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x1267}, Native: true}))
}

// TestCut cuts a report anywhere: the threads and frames before the cut are there, and a warning
// names the place.
func TestCut(t *testing.T) {
	text := file(t, net8)
	for n := range len(text) {
		r, err := crashreport.Open(target.BytesSource([]byte(text[:n])), target.Limits{})
		if err != nil {
			require.ErrorIs(t, err, target.ErrCorrupt, n)
			continue
		}
		if strings.TrimSpace(text[n:]) != "" {
			require.Len(t, r.Warnings(), 1, n)
			require.ErrorContains(t, r.Warnings()[0], "is cut at byte", n)
			require.Equal(t, target.OSUnknown, r.Platform().OS, n)
		}
	}
	r := open(t, text[:strings.Index(text, "raise")])
	assert.Len(t, r.Threads(), 1)
	assert.Len(t, frames(t, r, crashreport.StackOptions{Threads: []uint32{0x4d2}, Native: true}), 1)
}

// TestLies: impossible values are absent, with a warning that names the place; the rest is there.
func TestLies(t *testing.T) {
	text := func(thread string) string {
		return `{"payload": {"protocol_version": "1.0.0", "configuration": {"architecture": "amd64"}, "threads": [` + thread + `]}}`
	}
	for name, tt := range map[string]struct{ thread, warning string }{
		"number":      {`{"native_thread_id": "0x1", "stack_frames": [{"native_address": "many"}]}`, `native_address is "many"`},
		"size":        {`{"native_thread_id": "0x1", "stack_frames": [{"is_managed": "true", "filename": "a.dll", "module_address": "0x10", "sizeofimage": "0xfffffffff"}]}`, `sizeofimage is "0xfffffffff"`},
		"thread id":   {`{"native_thread_id": "0x100000000", "stack_frames": [{}]}`, "native_thread_id"},
		"rounds":      {`{"native_thread_id": "0x1", "stack_frames": [{"repeated": "0xffffffff", "repeated_frames": [{}]}]}`, "repeated"},
		"kind":        {`{"native_thread_id": "0x1", "stack_frames": [{"method_name": 7}]}`, "method_name is a number"},
		"name quoted": {`{"native_thread_id": "0x1", "stack_frames": [{}, {"method_name": "a"b"}]}`, "what stands behind is not read"},
		"deep":        {`{"native_thread_id": "0x1", "stack_frames": [{}], "more": ` + strings.Repeat("[", 20_000), "exceeded max depth"},
		"no list":     {`{"native_thread_id": "0x1", "stack_frames": [{}]}, {"native_thread_id": "0x2", "stack_frames": {}}`, "stack_frames begins with"},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, text(tt.thread))
			require.NotEmpty(t, r.Warnings())
			assert.ErrorIs(t, r.Warnings()[0], target.ErrCorrupt)
			assert.ErrorContains(t, r.Warnings()[0], tt.warning)
			require.NotEmpty(t, r.Threads())
			assert.NotEmpty(t, frames(t, r, crashreport.StackOptions{Threads: []uint32{r.Threads()[0].ID}}))
		})
	}
	r := open(t, text(`{"native_thread_id": "0x1", "stack_frames": [{"is_managed": "true", "filename": "a.dll", "module_address": "0xfffffffffffff000", "sizeofimage": "0xfffff"}]}`))
	assert.Equal(t, uint64(0x1000), r.Modules()[0].Size, "a module ends with the addresses")
	_, err := crashreport.Open(target.BytesSource([]byte(text(""))[:30]), target.Limits{})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = crashreport.Open(huge{}, target.Limits{})
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

type huge struct{ target.Source }

func (huge) Size() int64 { return limits.CrashReportBytes + 1 }

// TestLarge reads a report of 10 MB, and limits the number of threads.
func TestLarge(t *testing.T) {
	thread := `{"is_managed": "true", "crashed": "false", "native_thread_id": "0x%x", "stack_frames": [` +
		strings.Repeat(`{"is_managed": "false", "native_address": "0x1234", "native_module": "libc.so.6"},`, 100) + `{}]},`
	var b bytes.Buffer
	b.WriteString(`{"payload": {"protocol_version": "1.0.0", "threads": [`)
	n := 0
	for ; b.Len() < 10<<20; n++ {
		fmt.Fprintf(&b, thread, n+1)
	}
	b.WriteString(`{}]}}`)
	r := open(t, b.String())
	assert.Empty(t, r.Warnings())
	assert.Len(t, r.Threads(), n+1)
	few, err := crashreport.Open(target.BytesSource(b.Bytes()), target.Limits{Threads: 3})
	require.NoError(t, err)
	assert.Len(t, few.Threads(), 3)
	assert.ErrorContains(t, few.Warnings()[0], "more than 3 threads")
}

// FuzzReport opens possible reports and calls all methods.
func FuzzReport(f *testing.F) {
	for _, name := range []string{net8, net10, net11} {
		f.Add([]byte(file(f, name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := crashreport.Open(target.BytesSource(b), target.Limits{})
		if err != nil {
			if !errors.Is(err, target.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		var o crashreport.StackOptions
		for _, th := range r.Threads() {
			o.Threads = append(o.Threads, th.ID)
		}
		for _, o.Native = range []bool{false, true} {
			for _, err := range r.Stacks(context.Background(), o).Frames {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Crash()
		for i, m := range r.Modules() {
			if m.Base+target.Addr(m.Size) < m.Base && m.Base+target.Addr(m.Size) != 0 || i > 0 && r.Modules()[i-1].Base >= m.Base {
				t.Fatalf("%#x of %#x bytes", m.Base, m.Size)
			}
		}
	})
}

// TestManyThreads: the stacks of 40,000 threads take a time in proportion to their number.
func TestManyThreads(t *testing.T) {
	const n = 40_000
	var b strings.Builder
	b.WriteString(`{"payload": {"protocol_version": "1.0.0", "threads": [{}`)
	var o crashreport.StackOptions
	for i := range n {
		o.Threads = append(o.Threads, uint32(i+1))
		fmt.Fprintf(&b, `,{"is_managed": "true", "crashed": "false", "native_thread_id": "0x%x", "stack_frames": [{"is_managed": "true", "method_name": "A.B()"}]}`, i+1)
	}
	b.WriteString(`]}}`)
	r := open(t, b.String())
	testcase.Soon(t, 2*time.Second, func() {
		stacks := 0
		for _, err := range r.Stacks(context.Background(), o).Threads {
			require.NoError(t, err)
			stacks++
		}
		assert.Equal(t, n, stacks)
	})
}
