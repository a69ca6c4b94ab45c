package dap_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	adapter "github.com/sosgo/sosgo/internal/front/dap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A crowd is the process of a dump with copies of one of its threads and with added memory.
type crowd struct {
	target.Target
	over    testcase.Overlay
	more    []testcase.Damage // memory in addition to the dump's
	threads []target.Thread
}

func (c *crowd) Threads() []target.Thread { return c.threads }

// added returns the added memory from a on, or nil.
func (c *crowd) added(a target.Addr) []byte {
	for _, m := range c.more {
		if off := a - m.At; off < target.Addr(len(m.Bytes)) {
			return m.Bytes[off:]
		}
	}
	return nil
}

func (c *crowd) ReadMemory(p []byte, a target.Addr) (int, error) {
	b := c.added(a)
	if b == nil {
		return c.over.ReadMemory(p, a)
	}
	n := copy(p, b)
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (c *crowd) View(a target.Addr, n int) ([]byte, bool) {
	if b := c.added(a); n > 0 && n <= len(b) {
		return b[:n], true
	}
	return c.over.View(a, n)
}

func (c *crowd) Span(a target.Addr) []byte {
	if b := c.added(a); b != nil {
		return b
	}
	return c.over.Span(a)
}

// newCrowd makes a process of a thousand threads and a list of a million strings. Most threads are copies of one that
// is two hundred calls deep. It locates the members of the runtime's Thread by the known values of the dump's
// threads.
func newCrowd(t *testing.T) (c *crowd, list target.Addr) {
	t.Helper()
	const all, million, apart = 1000, 1_000_000, 0x2000
	const base = target.Addr(0x1230_0000_0000)
	d := testdump.Open(t, "net10-stacks")
	c = &crowd{Target: d.Dump.File()}
	c.over.Memory = c.Target
	c.over.Set()
	view, err := d.Dump.View("")
	require.NoError(t, err)
	rt, err := view.Runtime()
	require.NoError(t, err)
	known, err := rt.Threads()
	require.NoError(t, err)
	place := func(what func(i int) []byte) (offset int) { // in a Thread
		for offset = 0; offset < 0x1000; offset += 4 {
			found := true
			for i := range known {
				b := make([]byte, len(what(i)))
				if _, err := c.ReadMemory(b, known[i].Addr+target.Addr(offset)); err != nil || string(b) != string(what(i)) {
					found = false
					break
				}
			}
			if found {
				return offset
			}
		}
		t.Fatal("a member of Thread is not found")
		return 0
	}
	word := func(v target.Addr) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	id := place(func(i int) []byte { return binary.LittleEndian.AppendUint32(nil, known[i].OSID) })
	link := 0
	for off := 8; off < 0x1000 && link == 0; off += 8 {
		b := make([]byte, 8)
		_, err := c.ReadMemory(b, known[0].Addr+target.Addr(off))
		if err == nil && string(b) == string(word(known[1].Addr+target.Addr(off))) {
			link = off
		}
	}
	require.NotZero(t, link)
	var deep target.Thread
	var source target.Addr
	deepest := 0 // the OS id of the thread
	for _, row := range rows(document(t, d.Plain(), "threads"), "threads") {
		if row["name"] == "deep" {
			deepest, _ = number(row["osId"])
		}
	}
	for i := range known {
		for _, th := range c.Target.Threads() {
			if th.ID == known[i].OSID && int(th.ID) == deepest {
				deep, source = th, known[i].Addr
			}
		}
	}
	require.NotZero(t, source)
	size := apart
	for b := make([]byte, size); ; size -= 8 {
		if _, err := c.Target.ReadMemory(b[:size], source); err == nil {
			break
		}
	}
	require.Greater(t, size, max(link, id)+8)

	var damage []testcase.Damage
	threads := make([]byte, (all-len(known))*apart)
	last := known[len(known)-1].Addr + target.Addr(link)
	c.threads = append(c.threads, c.Target.Threads()...)
	for i := 0; len(c.threads) < all; i++ {
		at := base + target.Addr(i*apart)
		b := threads[i*apart:][:size]
		_, err := c.Target.ReadMemory(b, source)
		require.NoError(t, err)
		copied := deep
		copied.ID, copied.Name = 0x10000+uint32(i), fmt.Sprintf("copy %d", i) //nolint:gosec // of a thousand
		binary.LittleEndian.PutUint32(b[id:], copied.ID)
		binary.LittleEndian.PutUint64(b[link:], 0)
		c.threads = append(c.threads, copied)
		if i == 0 {
			damage = append(damage, testcase.Damage{At: last, Bytes: word(at + target.Addr(link))})
		} else {
			binary.LittleEndian.PutUint64(threads[(i-1)*apart+link:], uint64(at)+uint64(link))
		}
	}
	c.more = append(c.more, testcase.Damage{At: base, Bytes: threads})
	store, err := rt.GlobalPointer("ThreadStore")
	require.NoError(t, err)
	counts, err := rt.ThreadCounts()
	require.NoError(t, err)
	for off := target.Addr(0); off < 0x200; off += 4 {
		b := make([]byte, 4)
		if _, err := c.Target.ReadMemory(b, store+off); err == nil && binary.LittleEndian.Uint32(b) == counts.Threads {
			damage = append(damage, testcase.Damage{At: store + off, Bytes: binary.LittleEndian.AppendUint32(nil, all)})
			break
		}
	}

	of := func(typ string) (at, mt target.Addr) {
		found := rows(document(t, d.Plain(), "query", fmt.Sprintf("from objects | where type == %q | select address, mt | top 1", typ)), "rows")
		require.Len(t, found, 1, typ)
		return testdump.Address(found[0]["address"]), testdump.Address(found[0]["mt"])
	}
	text, _ := of("System.String")
	_, mt := of("System.Object[]")
	items := testcase.Damage{At: base + 1<<32, Bytes: slices.Concat(word(mt), word(million), bytes.Repeat(word(text), million))}
	c.more = append(c.more, items)
	list, _ = of("System.Collections.Generic.List<System.Object>")
	for _, f := range rows(document(t, d.Plain(), "dumpobj", list.String()), "fields") {
		switch f["name"] {
		case "_items":
			damage = append(damage, testcase.Damage{At: testdump.Address(f["address"]), Bytes: word(items.At)})
		case "_size":
			damage = append(damage, testcase.Damage{At: testdump.Address(f["address"]), Bytes: binary.LittleEndian.AppendUint32(nil, million)})
		}
	}
	c.over.Set(damage...)
	return c, list
}

// A crowdHost opens a crowd.
type crowdHost struct{ of *crowd }

func (h crowdHost) Open(context.Context, adapter.Open, func(done, total uint64)) (*adapter.Opened, error) {
	d, err := process.OpenTarget(h.of, process.Options{Offline: true})
	if err != nil {
		return nil, err
	}
	return &adapter.Opened{Path: "crowd", Dump: d, Console: noConsole{}, Close: d.Close}, nil
}

type noConsole struct{}

func (noConsole) Run(context.Context, string, io.Writer)       {}
func (noConsole) IsCommand(string) bool                        { return false }
func (noConsole) Complete(string) (found []string, length int) { return nil, 0 }

// TestCrowd checks that deep stacks are walked only as far as requested, and that only the elements of the requested
// page are read.
func TestCrowd(t *testing.T) {
	of, list := newCrowd(t)
	editor, server := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = adapter.Serve(context.Background(), server, server, crowdHost{of}, adapter.Options{})
	}()
	t.Cleanup(func() { editor.Close(); server.Close(); <-ended })
	c := &client{t: t, in: editor, out: bufio.NewReader(editor)}
	// within fails if a request allocates more than most bytes. It logs the time.
	within := func(what string, most uint64, ask func()) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		ask()
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %v, %d KB allocated", what, took, got>>10)
		if !underRace {
			assert.Less(t, got>>10, most>>10, what)
		}
	}
	ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
	ask[*dap.LaunchResponse](c, "launch", map[string]any{"dump": "crowd"})
	var threads []dap.Thread
	within("a thousand threads", 64<<20, func() {
		ask[*dap.ConfigurationDoneResponse](c, "configurationDone", nil)
		event[*dap.StoppedEvent](c)
		threads = c.threads()
	})
	require.Len(t, threads, 1000)
	copies := 0
	for _, th := range threads {
		if !strings.Contains(th.Name, "copy ") {
			continue
		}
		if copies++; copies <= 10 {
			var frames []dap.StackFrame
			within("20 frames", 16<<20, func() { frames = c.stack(th.Id, 0, 20) })
			require.Len(t, frames, 20)
			assert.Contains(t, frames[19].Name, "Scenario.Recurse(")
		}
	}
	assert.Greater(t, copies, 900)
	whole := c.stack(threads[len(threads)/2].Id, 0, 0)
	assert.Greater(t, len(whole), 200)

	var v dap.EvaluateResponseBody
	within("a list", 2<<20, func() { v = c.evaluate("0x"+list.String(), "watch", 0) })
	require.Equal(t, 1_000_000, v.IndexedVariables, "%+v", v)
	page := func(of, start, count int) (list []dap.Variable) {
		within("a page", 4<<20, func() {
			list = ask[*dap.VariablesResponse](c, "variables", map[string]any{"variablesReference": of, "filter": "indexed", "start": start, "count": count}).Body.Variables
		})
		require.Len(t, list, count)
		return list
	}
	assert.Equal(t, "[500099]", page(v.VariablesReference, 500_000, 100)[99].Name)
	assert.True(t, strings.HasPrefix(page(v.VariablesReference, 999_900, 100)[99].Value, `"`))
	within("ranges", 16<<20, func() { // for an editor that does not page
		ranges := slices.DeleteFunc(c.variables(v.VariablesReference), func(v dap.Variable) bool { return v.Name == "Raw view" })
		last := ranges[len(ranges)-1]
		assert.Equal(t, "[999000..999999]", last.Name)
		assert.Len(t, c.variables(last.VariablesReference), 1000)
	})
}
