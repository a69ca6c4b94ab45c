//go:build unix

package graph_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// A gapContext notes how much processor time passes between two looks at it.
type gapContext struct {
	context.Context
	mu   sync.Mutex
	last time.Duration
	at   string
	gaps []gap
}

type gap struct {
	time     time.Duration
	from, to string
}

func (c *gapContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, s := cpu()
	now := u + s
	if d := now - c.last; c.last != 0 && d > 8*time.Millisecond {
		c.gaps = append(c.gaps, gap{d, c.at, string(debug.Stack())})
		u, s = cpu()
		now = u + s
	}
	c.last = now
	return c.Context.Err()
}

// TestBigGaps says how long a graph of the dump that SOSGO_BENCH_DUMP names is at work without a look at its context, with one worker.
func TestBigGaps(t *testing.T) {
	name := os.Getenv("SOSGO_BENCH_DUMP")
	if name == "" {
		t.Skip("SOSGO_BENCH_DUMP names no dump")
	}
	d, err := sosgo.Open(name, sosgo.Options{})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	c := &gapContext{Context: context.Background()}
	say := func(what string) {
		slices.SortFunc(c.gaps, func(a, b gap) int { return cmp.Compare(b.time, a.time) })
		fmt.Println("=====", what, len(c.gaps))
		for _, g := range c.gaps[:min(3, len(c.gaps))] {
			fmt.Println(g.time, g.to)
		}
		c.gaps, c.last = nil, 0
		_ = c.Err()
	}
	r, err := graph.RootsOf(c, h, reader)
	require.NoError(t, err)
	say("roots")
	g, err := graph.Build(c, h, r, graph.Options{Jobs: 1})
	require.NoError(t, err)
	c.Err()
	say("build")
	_, err = g.Referrers(c)
	require.NoError(t, err)
	c.Err()
	say("referrers")
	_, err = g.Reach(c)
	require.NoError(t, err)
	c.Err()
	say("reach")
	doms, err := g.Dominators(c)
	require.NoError(t, err)
	c.Err()
	say("dominators")
	_, err = doms.Children(c, g.Root())
	require.NoError(t, err)
	c.Err()
	say("children")
	_, err = doms.ByType(c, graph.PartLive)
	require.NoError(t, err)
	c.Err()
	say("by type")
	_, err = doms.ByGeneration(c, graph.PartLive)
	require.NoError(t, err)
	c.Err()
	say("by generation")
	_, err = g.LiveStarts(c)
	require.NoError(t, err)
	c.Err()
	say("starts")
	_, err = g.CountTypes(c)
	require.NoError(t, err)
	c.Err()
	say("types")
	g.Close()
	c.Err()
	say("close")
}
