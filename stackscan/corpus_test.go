package stackscan_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
)

// A root is a line of oracle/stackroots.jsonl: a reference that the GC would report.
type root struct {
	OSID     uint32 `json:"osId"`
	Address  string `json:"address"`
	Object   string `json:"object"`
	Interior bool   `json:"interior"`
}

// TestRootsAreFound compares with the roots that the GC reports for each stack. The scan must find every root that lies
// on the stack and is the address of an object.
func TestRootsAreFound(t *testing.T) {
	cases := testcase.Named("net10-stacks-withheap", "net9-stacks-withheap", "net8-stacks-withheap", "net10-zoo-servergc-withheap",
		"win-net8-stacks-withheap")
	testdump.Corpus(t, cases, func(t *testing.T, d *testdump.Dump) int {
		found := scanAll(t, d.Dump)
		total := 0
		for _, r := range testcase.Oracle[root](t, d.Case, "stackroots") {
			at, obj := number(r.Address), number(r.Object)
			if r.Interior || at == 0 || obj == 0 {
				continue
			}
			total++
			assert.Equal(t, obj, found[at], "thread %x slot %x", r.OSID, uint64(at))
		}
		t.Logf("%d roots among %d slots", total, len(found))
		return total
	})
}

func scanAll(t *testing.T, d *sosgo.Dump) map[target.Addr]target.Addr {
	s, err := d.Scanner()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	found := map[target.Addr]target.Addr{}
	for i := range threads {
		if threads[i].OS == nil {
			continue
		}
		stack, err := threads[i].Stack(d.Target())
		require.NoError(t, err)
		require.False(t, stack.Alternate)
		for slot, err := range s.Scan(context.Background(), stackscan.Options{Ranges: stack.Ranges, Registers: &threads[i].OS.Registers}) {
			require.NoError(t, err)
			if slot.Source == stackscan.SourceStack {
				found[slot.Addr] = slot.Object
			}
		}
	}
	return found
}

func number(s string) target.Addr {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0
	}
	return target.Addr(v)
}

// BenchmarkThread scans the stack of one thread of the dump that SOSGO_BENCH_DUMP names.
func BenchmarkThread(b *testing.B) {
	path := os.Getenv("SOSGO_BENCH_DUMP")
	if path == "" {
		b.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(path, sosgo.Options{})
	require.NoError(b, err)
	defer d.Close()
	s, err := d.Scanner()
	require.NoError(b, err)
	threads, err := d.Threads()
	require.NoError(b, err)
	stack, err := threads[0].Stack(d.Target())
	require.NoError(b, err)
	slots := 0
	run := func() {
		for _, err := range s.Scan(context.Background(), stackscan.Options{Ranges: stack.Ranges, Registers: &threads[0].OS.Registers}) {
			if err == nil {
				slots++
			}
		}
	}
	run() // the first run walks the heap around the objects
	b.SetBytes(int64(stack.Ranges[0].Size()))
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}
