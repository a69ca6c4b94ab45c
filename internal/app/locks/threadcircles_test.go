package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestPartsOfCircle checks that threads that would all signal each other are one circle, and that circles with threads of their own stay.
func TestPartsOfCircle(t *testing.T) {
	threads := make([]stackwalk.Thread, 6)
	g := newGrapher(&survey{gaps: &answer.Gaps{}})
	for i := range threads {
		w := &wait{thread: &threads[i], timeout: -1}
		g.of[w.thread] = w
		g.s.waits = append(g.s.waits, w)
	}
	for i, w := range g.s.waits[:4] {
		for k := range 4 {
			if k != i {
				w.signals = append(w.signals, &threads[k])
			}
		}
	}
	g.s.waits[4].signals, g.s.waits[5].signals = []*stackwalk.Thread{&threads[5]}, []*stackwalk.Thread{&threads[4]}
	var sizes []int
	for _, path := range g.cycles() {
		sizes = append(sizes, len(path))
	}
	assert.Equal(t, []int{4, 2}, sizes)
}

// TestWhoEndsByVariable checks that a thread with a variable ends a wait neither by a monitor nor by what it waits for itself, and only as the only one.
func TestWhoEndsByVariable(t *testing.T) {
	box, gate, other := &lock{}, &lock{}, &lock{}
	for _, c := range []struct {
		w, by wait
		want  bool
	}{
		{wait{lock: box, pulse: true}, wait{lock: box, pulse: true}, false},
		{wait{lock: box, pulse: true}, wait{lock: other}, false},
		{wait{lock: gate}, wait{lock: gate}, false},
		{wait{lock: gate}, wait{lock: other}, true},
		{wait{lock: gate}, wait{lock: box, pulse: true}, true},
	} {
		assert.Equal(t, c.want, c.by.mayEnd(&c.w), "%+v", c)
	}
	one, two := &stackwalk.Thread{}, &stackwalk.Thread{}
	by := func(first, second target.Addr) map[*stackwalk.Thread]target.Addr {
		return map[*stackwalk.Thread]target.Addr{one: first, two: second}
	}
	assert.True(t, alone(by(0, 0), []*stackwalk.Thread{one}))
	assert.False(t, alone(by(0, 0), []*stackwalk.Thread{one, two}))
	assert.False(t, alone(by(8, 0), []*stackwalk.Thread{one, two}))
	assert.True(t, alone(by(8, 8), []*stackwalk.Thread{one, two}))
	assert.False(t, alone(map[*stackwalk.Thread]target.Addr{one: 0}, []*stackwalk.Thread{one, two}), "the code of another one leads there, too")
}
