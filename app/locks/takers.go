package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/answer/words"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// takes reports whether a method takes items from a BlockingCollection.
func takes(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(class, "BlockingCollection") && (name == "Take" || name == "TryTake" || name == "GetConsumingEnumerable")
}

// takers finds the threads with a method that takes from a collection.
func (s *survey) takers(collection target.Addr) (out []holder) {
	known := map[target.Addr]*methodCalls{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
				continue // a taker may be missing: the conclusion without one says so
			}
			m, err := s.calls(f.Runtime, md, known, takes)
			if err != nil || !m.own || len(m.list) == 0 {
				continue
			}
			if around, err := s.around(t, &f, md); err == nil && slices.ContainsFunc(around.Before, func(c tasks.Call) bool { return takes(c.Method) && c.Object == collection }) {
				out = append(out, s.threadHolder(t, &f, m))
				break
			}
		}
	}
	return out
}

// taken adds who takes from a full collection to the conclusion that threads wait for room in it.
func (g *grapher) taken(v *answer.Verdict, list []holder) {
	h := &list[0]
	name := g.name(h.thread)
	var does answer.Statement
	if w := g.waitOf(h); w != nil {
		does = words.InMethodWaits.Of(words.Method(compilernames.Pretty(h.method.String())), g.what(w))
	} else {
		activity, where := g.activity(h.thread)
		does = words.AndDoes.Of(activity, where)
	}
	says := words.TakesFromIt.Of(name, does)
	if len(list) > 1 {
		says = words.TakeFromIt.Of(name, words.N(len(list)-1), does)
	}
	v.Statement, v.Strength = v.Plus(says), answer.StrengthLikely
	if slices.ContainsFunc(list, func(h holder) bool { return g.threadMoves(h.thread) }) {
		v.Severity = answer.SeverityWarning // there is room soon
	}
	v.Because(words.TakesItsIL.Of(name))
	v.Show = append(v.Show, g.showHolder(h)...)
}
