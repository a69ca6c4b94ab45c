package acceptance_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestConcurrency uses one dump in many goroutines, including its opening, for -race. Each gets the
// same answers.
func TestConcurrency(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, c *testdump.Dump) {
		want := inventory(c.Dump)
		d, err := sosgo.Open(c.Plain(), c.Options())
		require.NoError(t, err)
		defer d.Close()
		const goroutines = 8
		got := make([]string, goroutines)
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Go(func() { got[i] = inventory(d) })
		}
		wg.Wait()
		for _, g := range got {
			if g != want {
				t.Fatal(firstDifference(want, g))
			}
		}
	})
}

// inventory returns everything that the library finds in a dump, as text.
func inventory(d *sosgo.Dump) string {
	var b strings.Builder
	note := func(what string, err error) {
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", what, err)
		}
	}
	for _, m := range d.Target().Modules() {
		fmt.Fprintf(&b, "module %v %s\n", m.Base, m.Path)
	}
	rt, err := d.Runtime()
	if err != nil {
		note("runtime", err)
		return b.String()
	}
	modules, err := rt.KnownModules()
	note("modules", err)
	for _, m := range modules {
		name, err := m.SimpleName()
		fmt.Fprintf(&b, "assembly %v %s %v\n", m.Addr, name, err)
	}
	threads, err := rt.Threads()
	note("threads", err)
	for i := range threads {
		e, err := rt.CurrentException(&threads[i])
		fmt.Fprintf(&b, "thread %v %d %v %v\n", threads[i].Addr, threads[i].ManagedID, e, err)
	}
	h, err := d.Heap()
	if err != nil {
		note("heap", err)
		return b.String()
	}
	writeObjects(&b, h)
	writeStacks(&b, d)
	return b.String()
}

// writeObjects writes each type with its objects and a checksum of their addresses.
func writeObjects(b *strings.Builder, h *heap.Heap) {
	sum, n := fnv.New64a(), 0
	for o, err := range h.Objects() {
		if err != nil {
			fmt.Fprintf(b, "object: %v\n", err)
			continue
		}
		name, err := h.Runtime().TypeName(o.Type.Addr, dac.NameManaged)
		fmt.Fprintln(sum, o.Addr, o.Size, o.Free, name, err)
		n++
	}
	fmt.Fprintf(b, "%d objects %x\n", n, sum.Sum64())
}

// writeStacks writes down what each stack holds, and its frames.
func writeStacks(b *strings.Builder, d *sosgo.Dump) {
	threads, err := d.Threads()
	fmt.Fprintf(b, "%d threads %v\n", len(threads), err)
	scanner, err := d.Scanner()
	if err != nil {
		fmt.Fprintf(b, "scanner: %v\n", err)
		return
	}
	for i := range threads {
		t := &threads[i]
		if stack, err := t.Stack(d.Target()); err == nil && t.OS != nil {
			n := 0
			for range scanner.Scan(context.Background(), stackscan.Options{Ranges: stack.Ranges, Registers: &t.OS.Registers}) {
				n++
			}
			fmt.Fprintf(b, "thread %#x: %d slots\n", t.ID(), n)
		}
		for f := range d.MergedWalk(context.Background(), t.ID(), stackwalk.WalkOptions{}) {
			fmt.Fprintf(b, "frame %v %v %v\n", f.SP, f.IP, f.Err)
		}
	}
}
