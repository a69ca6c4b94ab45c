package locks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// doubtful returns a grapher of two semaphores of one permit, one for each key: of the boxes 1 and 2 each waits for one and may have
// entered the other, and the box 3 may have entered either, and does what third says.
func doubtful(third *operation) (*grapher, []*lock) {
	locks := []*lock{{Lock: answer.Lock{Kind: answer.LockSemaphore, Address: 0x10}, most: 1}, {Lock: answer.Lock{Kind: answer.LockSemaphore, Address: 0x20}, most: 1}}
	standing := map[target.Addr]*operation{3: third}
	if third != nil {
		third.wait = &wait{op: third, lock: third.thing.lock, timeout: -1}
	}
	uses := map[*lock]*semaphoreUse{}
	for i, l := range locks {
		op := &operation{box: target.Addr(i + 1), thing: &thing{lock: l, addr: l.Address}}
		op.wait = &wait{op: op, lock: l, timeout: -1}
		standing[op.box] = op
		uses[l] = &semaphoreUse{gives: true, suspended: true}
		for box := target.Addr(1); box <= 3; box++ {
			if box == op.box {
				continue
			}
			h := holder{box: box, method: answer.Text{S: "Store.Save"}, gives: true, another: true}
			h.doubts(words.OrForAnother.Of())
			uses[l].holders = append(uses[l].holders, h)
		}
	}
	s := &survey{gaps: &answer.Gaps{}, suspension: suspension{uses: uses, standing: standing}, naming: naming{names: map[target.Addr]string{0x10: "Slot.gate", 0x20: "Slot.gate"}, alike: map[string]int{"Slot.gate": 2}}}
	s.ops = []*operation{standing[1], standing[2]}
	return newGrapher(s), locks
}

// TestCrowd: of more than may have entered a semaphore none is named as its holder.
func TestCrowd(t *testing.T) {
	for _, strength := range []answer.Strength{answer.StrengthLikely, answer.StrengthPossible} {
		g, locks := doubtful(&operation{box: 3, thing: &thing{cause: tasks.CausePromise, kind: answer.WaitPromise}})
		for i := range g.s.uses[locks[0]].holders {
			g.s.uses[locks[0]].holders[i].strength = strength
		}
		g.nodes()
		v := answer.Conclude(answer.FindingPermits, words.Text("9 wait"), "")
		assert.True(t, g.permits(&v, locks[0]))
		assert.Equal(t, answer.StrengthPossible, v.Strength)
		assert.Regexp(t, `^9 wait; at most 1 of the 2 that may have entered it did, and it is not known which; Store\.Save 0{15}2 is one of them, and waits for `, v.Text)
		for _, w := range g.ops {
			assert.Empty(t, w.behind, "no ring of what is not known")
		}
		assert.False(t, g.passes(&answer.Verdict{}, locks[0], 9), "one of them waits for a promise")
	}
}

// TestDoubtfulRing: what may have entered one semaphore or the other, and waits for one, too, is no deadlock.
func TestDoubtfulRing(t *testing.T) {
	for _, most := range []int64{1, 2} {
		g, locks := doubtful(&operation{box: 3, thing: &thing{}})
		g.s.standing[3].thing.lock, g.s.standing[3].wait.lock = locks[0], locks[0]
		for _, l := range locks {
			l.most = most
			for i := range g.s.uses[l].holders {
				g.s.uses[l].holders[i].strength = answer.StrengthLikely
			}
		}
		g.nodes()
		for _, w := range g.ops {
			assert.Equal(t, most == 1, len(w.behind) == 0, "two have entered one of 2 permits, and not one of 1")
		}
	}
}

// TestOneField: semaphores in one field of several objects are one finding, the most severe one.
func TestOneField(t *testing.T) {
	g, locks := doubtful(nil)
	link := func(l *lock, count int, severity answer.Severity) permitLink {
		v := answer.Conclude(answer.FindingPermits, words.Text("wait"), answer.StrengthLikely)
		v.Severity, v.Waiting = severity, make([]target.Addr, count)
		return permitLink{lock: l, verdict: v, count: count}
	}
	list := g.oneField([]permitLink{link(locks[0], 9, answer.SeverityWarning), link(locks[1], 4, "")})
	if assert.Len(t, list, 1) {
		assert.Same(t, locks[1], list[0].lock)
		assert.Empty(t, list[0].verdict.Severity)
		assert.Equal(t, "wait; 9 more operations wait for 1 other semaphore in this field", list[0].verdict.Text)
		assert.Len(t, list[0].verdict.Waiting, 13)
	}
	g.s.names[0x20] = "Shop.gate"
	assert.Len(t, g.oneField([]permitLink{link(locks[0], 9, ""), link(locks[1], 4, "")}), 2, "two fields")
}

// TestRoundsOf: what pauses a number of times waits longer, and no more than is bounded.
func TestRoundsOf(t *testing.T) {
	g := newGrapher(&survey{gaps: &answer.Gaps{}, suspension: suspension{standing: map[target.Addr]*operation{}}})
	assert.Equal(t, int64(1), g.s.roundsOf(&holder{box: 7}))
	assert.Equal(t, 1, g.pausing(&lock{most: math.MaxInt32}, 0), "one turn at least")
}
