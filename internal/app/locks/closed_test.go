package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// TestClosed: semaphores hold each other up if all methods that may have entered one of them wait for one of them, as many as permits are taken. One that goes on, another
// that may have entered, a wait with a limit or a permit that nobody has leaves the question open.
func TestClosed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *grapher, locks []*lock)
		says   bool
	}{
		"circle":        {func(*grapher, []*lock) {}, true},
		"one goes on":   {func(g *grapher, _ []*lock) { g.s.standing[1].thing = &thing{cause: tasks.CauseDelay} }, false},
		"a limit":       {func(g *grapher, _ []*lock) { g.s.standing[1].limited = true }, false},
		"a thread":      {func(g *grapher, l []*lock) { g.s.uses[l[0]].hiding = append(g.s.uses[l[0]].hiding, hiding{}) }, false},
		"unread code":   {func(g *grapher, l []*lock) { g.s.uses[l[1]].unread = 1 }, false},
		"a signal":      {func(g *grapher, l []*lock) { g.s.uses[l[0]].gives = false }, false},
		"a lost permit": {func(_ *grapher, l []*lock) { l[0].most = 2 }, false},
		"a free permit": {func(_ *grapher, l []*lock) { l[0].count = 1 }, false},
		"other fields":  {func(g *grapher, _ []*lock) { g.s.alike = map[string]int{} }, false},
	} {
		list := []*lock{{most: 1}, {most: 1}}
		s := &survey{gaps: &answer.Gaps{},
			suspension: suspension{uses: map[*lock]*semaphoreUse{}, standing: map[target.Addr]*operation{}}, naming: naming{names: map[target.Addr]string{}, alike: map[string]int{"Bank.locks": 2}}}
		for i, l := range list {
			l.Kind, l.Address = answer.LockSemaphore, target.Addr(0x10*(i+1))
			s.names[l.Address] = "Bank.locks"
			s.uses[l] = &semaphoreUse{gives: true, hiding: []hiding{{box: 1}, {box: 2}}}
			op := &operation{box: target.Addr(i + 1), method: answer.Text{S: "Bank.Moves"}, thing: &thing{lock: list[1-i], kind: answer.WaitPromise}}
			s.standing[op.box], s.ops = op, append(s.ops, op)
		}
		g := newGrapher(s)
		c.change(g, list)
		out := g.closed()
		if assert.Equal(t, c.says, len(out) == 1, name) && c.says {
			assert.Equal(t, answer.FindingDeadlock, out[0].Kind)
			assert.Contains(t, out[0].Text, "2 suspended operations wait for 2 semaphores in Bank.locks without permits; 2 methods may have entered one of them")
		}
	}
}
