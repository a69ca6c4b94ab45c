// Package poolverdict judges whether a thread pool keeps up with its work.
//
// Stability: unstable.
package poolverdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// Of judges whether a pool keeps up with its work. Activities of threads are concluded from the
// methods on their stacks, so conclusions from them are at most likely.
func Of(p *answer.ThreadPool, q *answer.WorkQueues) answer.Verdict {
	switch {
	case p.Kind == answer.PoolUnknown:
		return answer.Verdict{Text: "whether work waits for a worker is not known", Strength: answer.StrengthUnknown,
			Evidence: []string{"the pool can't be read: " + p.Total.Err.Error()}}
	case p.Queued.Err != nil:
		return answer.Verdict{Text: "whether work waits for a worker is not known", Strength: answer.StrengthUnknown,
			Evidence: []string{"not all queues can be read: " + p.Queued.Err.Error()}}
	case p.Queued.Value == 0:
		v := answer.Verdict{Text: "no work waits for a worker", Strength: answer.StrengthProved, Evidence: []string{"all queues are empty"}}
		if n := blocked(p); n > 0 {
			v.Evidence = append(v.Evidence, doing(p)...)
		}
		return v
	case p.Total.Err != nil || p.Running.Err != nil:
		return answer.Verdict{Text: items(p) + " for a worker; whether one is free is not known", Strength: answer.StrengthUnknown,
			Evidence: []string{"the pool's counters can't be read"}}
	}
	v := answer.Verdict{Strength: answer.StrengthLikely, Evidence: []string{fmt.Sprintf("%d of %d workers are busy", p.Running.Value, p.Total.Value)}}
	if p.Max.Err == nil && p.Total.Value >= p.Max.Value {
		v.Evidence = append(v.Evidence, fmt.Sprintf("the pool may have %d workers at most: it can't make another", p.Max.Value))
	}
	if p.Clock.Err == nil && p.Dequeued.Err == nil && p.Clock.Value > p.Dequeued.Value {
		v.Evidence = append(v.Evidence, fmt.Sprintf("a worker last took an item %d ms before the newest time that the process noted",
			p.Clock.Value-p.Dequeued.Value))
	}
	n := len(p.Workers)
	stands := doing(p)
	if k := min(1, len(stands)); 2*blocked(p) >= n { // where most of them wait explains a starved pool: readers see the first lines
		v.Evidence, stands = slices.Insert(v.Evidence, 1, stands[:k]...), stands[k:]
	}
	v.Evidence = append(append(v.Evidence, fills(p, q)...), stands...)
	v.Sites = standing(p)
	switch waiting := blocked(p); {
	case p.Total.Value > p.Running.Value && p.Queued.Value > pile*uint64(p.Total.Value):
		v.Kind = answer.FindingPile
		v.Sites = queued(q)
		v.Text = fmt.Sprintf("work piles up: %s, though %s", items(p), free(p))
	case p.Total.Value > p.Running.Value && p.Queued.Value > uint64(p.Total.Value):
		v.Text, v.Strength = fmt.Sprintf("%s, though %s; whether the pool keeps up is not known", items(p), free(p)), answer.StrengthUnknown
	case p.Total.Value > p.Running.Value:
		v.Kind = answer.FindingPoolKeepsUp
		v.Text = fmt.Sprintf("the pool keeps up: %s, and %s", items(p), free(p))
	case n == 0:
		v.Text, v.Strength = items(p)+" and no worker is free; what the workers do is not known", answer.StrengthUnknown
	case waiting == n:
		v.Kind = answer.FindingStarved
		v.Text = fmt.Sprintf("the pool is starved: %s for a worker, and all %d workers wait for something themselves", items(p), n)
	case 2*waiting >= n:
		v.Kind = answer.FindingStarved
		v.Text = fmt.Sprintf("the pool is nearly starved: %s for a worker, and %d of %d workers wait for something themselves", items(p), waiting, n)
	case p.Queued.Value > longPile*uint64(n):
		v.Kind = answer.FindingPile
		v.Sites = queued(q)
		v.Text = fmt.Sprintf("work piles up: %s for a worker, and %d of %d workers run", items(p), n-waiting, n)
	default:
		v.Text = fmt.Sprintf("the pool is busy: %s for a worker, and %d of %d workers run", items(p), n-waiting, n)
	}
	return v
}

// pile is how many items for each worker are a queue that grows, whatever the workers did at the moment of the dump.
// If no worker is free, a batch of work may be on its way, and longPile items for each are a pile.
const (
	pile     = 100
	longPile = 1000
)

// free counts the workers without work.
func free(p *answer.ThreadPool) string {
	n := p.Total.Value - p.Running.Value
	if n == 1 {
		return "1 worker is free"
	}
	return fmt.Sprintf("%d workers are free", n)
}

// mostQueued is how many of the queued methods the verdict names.
const mostQueued = 3

// fills returns the methods, or else the types, of most queued items.
func fills(p *answer.ThreadPool, q *answer.WorkQueues) []string {
	rows := queued(q)
	slices.SortStableFunc(rows, func(a, b answer.Site) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Method.S+a.Does, b.Method.S+b.Does))
	})
	var out []string
	read := 0
	for i := range rows {
		read += rows[i].Count
	}
	if uint64(read) < p.Queued.Value {
		out = append(out, fmt.Sprintf("%d of the queued items were looked at", read))
	}
	for i := range rows {
		if i == mostQueued {
			out = append(out, fmt.Sprintf("the other queued items are of %d other methods or types", len(rows)-i))
			break
		}
		out = append(out, fmt.Sprintf("%d of %d queued items: %s", rows[i].Count, p.Queued.Value, rows[i].Method.S+rows[i].Does))
	}
	return out
}

// queued counts the queued items by their methods, or else their types.
func queued(q *answer.WorkQueues) (out []answer.Site) {
	type key struct{ name, does string }
	at := map[key]int{}
	for i := range q.Queues {
		for j := range q.Queues[i].Items {
			item := &q.Queues[i].Items[j]
			k := key{name: item.Method.S}
			unread := error(nil)
			if item.Method.Err != nil || k.name == "" {
				k.name, unread = item.Type.String(), item.Type.Err
			}
			if item.Kind == answer.ItemTimer {
				k.does = " (of timers)"
			}
			n, ok := at[k]
			if !ok {
				n = len(out)
				at[k], out = n, append(out, answer.Site{Method: answer.Text{S: k.name, Err: unread}, Does: k.does})
			}
			out[n].Count++
		}
	}
	return out
}

// standing returns where the workers stand that wait for something other than work.
func standing(p *answer.ThreadPool) (out []answer.Site) {
	for i := range p.Workers {
		if w := &p.Workers[i]; w.Waits {
			out = append(out, answer.Site{Method: w.Activity.Caller, Does: w.Activity.Kind, Thread: w.Thread.OSID})
		}
	}
	return out
}

func items(p *answer.ThreadPool) string {
	if p.Queued.Value == 1 {
		return "1 item waits"
	}
	return fmt.Sprintf("%d items wait", p.Queued.Value)
}

// blocked counts the workers that wait for something other than work.
func blocked(p *answer.ThreadPool) int {
	n := 0
	for i := range p.Workers {
		if p.Workers[i].Waits {
			n++
		}
	}
	return n
}

// doing describes the activities of the workers, grouped by activity and method.
func doing(p *answer.ThreadPool) []string {
	type row struct {
		text    string
		threads []string
	}
	var rows []row
	for i := range p.Workers {
		w := &p.Workers[i]
		text := w.Activity.Text
		if c := w.Activity.Caller; !c.IsZero() {
			text += " in " + c.String()
		}
		at := slices.IndexFunc(rows, func(r row) bool { return r.text == text })
		if at < 0 {
			at, rows = len(rows), append(rows, row{text: text})
		}
		rows[at].threads = append(rows[at].threads, threadNumber(&w.Thread))
	}
	slices.SortStableFunc(rows, func(a, b row) int { return len(b.threads) - len(a.threads) })
	var out []string
	for _, r := range rows {
		worker, thread := "workers", "threads"
		if len(r.threads) == 1 {
			worker, thread = "worker", "thread"
		}
		out = append(out, fmt.Sprintf("%d %s: %s (%s %s)", len(r.threads), worker, r.text, thread, strings.Join(r.threads, ", ")))
	}
	return out
}

// threadNumber returns the number by which commands identify a thread.
func threadNumber(t *answer.Thread) string {
	if t.Index != nil {
		return fmt.Sprint(*t.Index)
	}
	return fmt.Sprintf("%#x", t.OSID)
}
