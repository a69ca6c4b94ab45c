package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// uploads returns a grapher with n threads that wait at one place, each for an event of its own in the same field.
func uploads(n int) (*grapher, []dependent) {
	g := &grapher{s: &survey{naming: naming{names: map[target.Addr]string{}}}, rows: map[*stackwalk.Thread]*answer.ThreadWait{}, of: map[*stackwalk.Thread]*wait{}, described: map[*wait]bool{}}
	var list []dependent
	for i := range n {
		w, at := &wait{thread: &stackwalk.Thread{}}, target.Addr(0x1000+i)
		g.rows[w.thread] = &answer.ThreadWait{Method: answer.Text{S: "Shop.Upload.Run"}}
		g.s.names[at], g.of[w.thread] = "Shop.Upload.ack", w
		list = append(list, dependent{object: at, on: at, does: "sets it", kind: words.Type("System.Threading.AutoResetEvent"), waits: []*wait{w}})
	}
	return g, list
}

// TestExaminedTogether: things alike count as one of those that are examined, with the waits for all of them, even if they are more. Where
// nothing is concluded about all of them, they are examined one by one, after others.
func TestExaminedTogether(t *testing.T) {
	const many = 10 * mostDependents
	g, list := uploads(many)
	other := dependent{object: 1, does: "sets it", kind: words.Type("System.Threading.AutoResetEvent"), waits: []*wait{{thread: &stackwalk.Thread{}}}}
	g.rows[other.waits[0].thread] = &answer.ThreadWait{Method: answer.Text{S: "Shop.Other.Run"}}
	list = append(list, other)
	ask := func(all bool) (out []dependent) {
		require.NoError(t, g.examined(list, func(d *dependent) (bool, error) {
			out = append(out, *d)
			return all, nil
		}))
		return out
	}
	got := ask(true)
	require.Len(t, got, 2)
	assert.Len(t, got[0].waits, many)
	assert.Equal(t, many, got[0].alike)
	assert.Equal(t, target.Addr(1), got[1].object)
	assert.Equal(t, many, g.merged(got)[0].alike)

	got = ask(false)
	require.Len(t, got, mostDependents)
	assert.Equal(t, target.Addr(1), got[1].object)
	assert.Equal(t, target.Addr(0x1000), got[2].object)
	assert.Len(t, got[2].waits, 1)

	for i := range list {
		list[i].lock = &lock{Lock: answer.Lock{Kind: answer.LockSemaphore}}
	}
	assert.Len(t, ask(true), mostDependents, "a semaphore has permits, and holders, of its own")
}

// TestManyThreadsOnce: threads with waits that are all described are not said once more to be many.
func TestManyThreadsOnce(t *testing.T) {
	g, list := uploads(2)
	stands := []stand{{thread: list[0].waits[0].thread}, {thread: list[1].waits[0].thread}}
	g.described[list[0].waits[0]] = true
	assert.False(t, g.allDescribed(stands), "one of two")
	g.described[list[1].waits[0]] = true
	assert.True(t, g.allDescribed(stands))
	assert.False(t, g.allDescribed(append(stands, stand{thread: &stackwalk.Thread{}})), "no wait is known")
}
