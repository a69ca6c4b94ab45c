package locks

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// settles reports whether a call completes the promise that it is made on.
func settles(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return class == "TaskCompletionSource" && (strings.HasPrefix(name, "Set") || strings.HasPrefix(name, "TrySet"))
}

// completers finds the suspended methods that complete promises (TaskCompletionSource) behind their present await, by promise. Operations of the groups
// wait for these.
func (g *grapher) completers(groups []*waiters) map[target.Addr][]holder {
	wanted, out := map[target.Addr]bool{}, map[target.Addr][]holder{}
	for _, w := range groups {
		if w.thing.kind == answer.WaitPromise && w.thing.source != 0 {
			wanted[w.thing.source] = true
		}
	}
	if len(wanted) == 0 {
		return out
	}
	for m, err := range g.s.set.Suspended(g.s.ctx, settles, nil) {
		if err != nil {
			return out // the context's
		}
		if m.Err != nil {
			continue
		}
		for i := range m.Later {
			promise := m.Later[i].Object
			if op := g.s.standing[m.Object]; !wanted[promise] || op != nil && op.thing.source == promise {
				continue
			}
			out[promise] = append(out[promise], holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely})
			break
		}
	}
	return out
}

// completer adds to a conclusion about a promise who completes it, as far as that is known.
func (g *grapher) completer(v *answer.Verdict, t *thing) {
	list := g.completing[t.source]
	if len(list) == 0 {
		v.Statement = v.Plus(words.NobodyCompletes.Of())
		return
	}
	h, does := &list[0], answer.Statement{}
	if w := g.waitOf(h); w != nil {
		does = words.AndWaits.Of(g.what(w))
	}
	v.Statement, v.Strength = v.Plus(words.CompletesLater.Of(g.holderName(h), does)), answer.Weakest(v.Strength, h.strength)
	v.Because(words.CompletesIL.Of(g.holderName(h)))
	v.Show = append(v.Show, g.showHolder(h)...)
	if g.moves(h) {
		v.Severity = answer.SeverityWarning
	}
}
