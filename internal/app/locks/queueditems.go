package locks

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// queuedItems concludes which threads wait for events that queued items of the thread pool were given: the items signal them once a worker takes
// them. It reads the queues only if such a thread is a worker of the pool, which could take them.
func (g *grapher) queuedItems() ([]answer.Verdict, error) {
	of := map[target.Addr][]*wait{}
	worker := false
	for _, w := range g.s.waits {
		if l := w.lock; l != nil && len(w.runners) == 0 && !w.pulse && l.Kind != answer.LockSemaphore {
			of[l.Address] = append(of[l.Address], w)
		} else if l == nil && w.object.Addr != 0 && !w.join && len(w.runners) == 0 {
			of[w.object.Addr] = append(of[w.object.Addr], w)
		} else {
			continue
		}
		worker = worker || w.thread.Managed != nil && w.thread.Managed.State&dac.ThreadPoolWorker != 0
	}
	if !worker {
		return nil, nil
	}
	if g.s.pool == nil {
		if err := g.s.queued(); err != nil {
			return nil, err
		}
	}
	type pile struct {
		items int
		waits []*wait
	}
	piles := map[string]*pile{} // by method
	for i := range g.s.pool.Queues.Queues {
		for _, item := range g.s.pool.Queues.Queues[i].Items {
			list := of[item.StateObject]
			if len(list) == 0 || item.StateObject == 0 {
				continue
			}
			method := cmp.Or(item.Method.S, item.Type.S)
			p := piles[method]
			if p == nil {
				p = &pile{}
				piles[method] = p
			}
			p.items++
			for _, w := range list {
				if !slices.Contains(p.waits, w) {
					p.waits = append(p.waits, w)
				}
			}
		}
	}
	var out []answer.Verdict
	for method, p := range piles {
		v := answer.Conclude(answer.NoFinding, words.ItemsSignal.Of(words.N(len(p.waits)), words.N(p.items), words.Method(compilernames.Pretty(method))),
			answer.StrengthLikely, g.evidences(p.waits)...)
		v.Count, v.Show = len(p.waits), []string{"threadpool -wi"}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b answer.Verdict) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return out, nil
}
