package ondumps_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A manyThreads is a process with more threads. It counts how often somebody goes through its regions.
type manyThreads struct {
	target.Target
	threads []target.Thread
	walks   int
}

func (m *manyThreads) Threads() []target.Thread { return m.threads }

func (m *manyThreads) Regions() iter.Seq[target.Region] {
	m.walks++
	return m.Target.Regions()
}

// TestStacksOfManyThreads checks the ends of stacks against the regions of the process. For all threads together the
// regions are walked once.
func TestStacksOfManyThreads(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	regions := []target.Region{}
	for r := range d.Target().Regions() {
		regions = append(regions, r)
	}
	native := d.Target().Threads()[0]
	p := &manyThreads{Target: d.Target()}
	wants := []target.Addr{}
	for i := range 2000 {
		r := regions[i%len(regions)]
		sp, end := (r.Start+target.Addr(uint64(i)*8%r.Size))&^7, target.Addr(0)
		for _, r := range regions {
			if r.Start <= sp && uint64(sp-r.Start) < r.Size {
				end = max(end, r.Start+target.Addr(r.Size))
			}
		}
		thread := native
		thread.ID, thread.Stack = uint32(i), target.Range{}
		thread.Registers.SetSP(sp)
		p.threads, wants = append(p.threads, thread), append(wants, end)
	}
	list, err := stackwalk.Threads(p, nil)
	require.NoError(t, err)
	p.walks = 0
	for i := range list {
		s, err := list[i].Stack(p)
		require.NoError(t, err)
		assert.Equal(t, wants[i], s.Ranges[0].End, "thread %d", i)
	}
	assert.Equal(t, 1, p.walks)
	s, err := (&stackwalk.Thread{OS: &p.threads[7]}).Stack(p)
	require.NoError(t, err)
	assert.Equal(t, wants[7], s.Ranges[0].End, "of a Thread that Threads did not make")
}
