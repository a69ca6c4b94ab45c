package threads

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Waiting describes what the managed threads of a List do or wait for. It lists the monitors that threads wait to
// enter, and the circles of threads that wait for each other. The waiting frame has the reference to the monitor. A
// thread with an unreadable frame is in no circle.
func Waiting(ctx context.Context, w *stackwalk.Walker, list []stackwalk.Thread) (*answer.Waiting, error) {
	rt := w.Runtime()
	running, err := stackwalk.RunningThreads(list, rt)
	out := &answer.Waiting{}
	out.Note(err)
	m := &monitors{ctx: ctx, w: w, gaps: &out.Gaps, list: list, wanted: map[target.Addr]*dac.SyncBlock{}, waits: map[*stackwalk.Thread]*dac.SyncBlock{}}
	m.findContested(rt)
	for _, t := range running {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, found := activity(ctx, t, w)
		row := answer.WaitingThread{Thread: t.Describe(&out.Gaps), ThreadActivity: *DescribeActivity(t, &out.Gaps, found)}
		if a == ActivityLock && len(m.wanted) > 0 {
			if b, timeout := m.waitsFor(t); b != nil {
				row.Monitor, m.waits[t], row.How = b.Object, b, answer.HowInferred
				if timeout != nil {
					row.How = answer.HowRecorded
				}
				if timeout != nil && *timeout >= 0 {
					row.Timeout = timeout
				}
			}
		}
		out.Threads = append(out.Threads, row)
	}
	out.Monitors = m.describe(running)
	out.Deadlocks = m.circles(running)
	return out, nil
}

// A monitors finds which thread waits for which monitor.
type monitors struct {
	ctx    context.Context
	w      *stackwalk.Walker
	gaps   *answer.Gaps
	list   []stackwalk.Thread
	wanted map[target.Addr]*dac.SyncBlock // owned and waited for, by object and by Lock
	order  []*dac.SyncBlock               // order of wanted
	waits  map[*stackwalk.Thread]*dac.SyncBlock
}

// findContested collects the sync blocks that are owned and waited for. A thin lock becomes a sync block when a thread
// waits.
func (m *monitors) findContested(rt *dac.Runtime) {
	for b, err := range rt.SyncBlocks() {
		if m.ctx.Err() != nil {
			return
		}
		if err != nil {
			m.gaps.Note(err)
			continue
		}
		if b.Held && b.Waiters > 0 && b.Object != 0 {
			m.order = append(m.order, &b)
			m.wanted[b.Object] = &b
			if b.Lock != 0 {
				m.wanted[b.Lock] = &b
			}
		}
	}
}

// waitsFor returns the monitor that t waits to enter, as the runtime recorded it. If the record is unreadable, it is
// the monitor with the object or Lock that is referred to at the top of the stack, by the runtime or the class
// library's waits. timeout is nil unless it is recorded, and negative for an infinite wait.
func (m *monitors) waitsFor(t *stackwalk.Thread) (b *dac.SyncBlock, timeout *int32) {
	if items, err := m.w.Runtime().BlockingItems(t.Managed); err == nil && len(items) > 0 {
		if items[0].Kind != dac.BlockedEnter {
			return nil, nil
		}
		return m.wanted[items[0].Block.Object], &items[0].Timeout
	}
	for r, err := range m.w.Roots(m.ctx, t.Managed, t.OS.Registers) {
		if err != nil {
			return nil, nil
		}
		if r.Explicit == "" && r.Method != nil {
			if class, _ := m.w.Runtime().TypeName(r.Method.MethodTable, dac.NameNative); !strings.HasPrefix(class, waitingClasses) {
				return nil, nil
			}
		}
		if b := m.wanted[r.Object]; b != nil && !r.Interior {
			return b, nil
		}
	}
	return nil, nil
}

// waitingClasses is the prefix of the classes that wait for a monitor: Monitor, Lock, WaitHandle.
const waitingClasses = "System.Threading."

func (m *monitors) describe(running []*stackwalk.Thread) []answer.Monitor {
	var out []answer.Monitor
	for _, b := range m.order {
		d := answer.Monitor{Object: b.Object, Type: lockedType(m.gaps, m.w.Runtime(), b.Object), Waiters: b.Waiters}
		if t := ownerOf(m.list, b); t != nil {
			owner := t.Describe(m.gaps)
			d.Owner = &owner
		}
		for _, t := range running {
			if m.waits[t] == b {
				d.Waiting = append(d.Waiting, t.Describe(m.gaps))
			}
		}
		out = append(out, d)
	}
	return out
}

// circles follows from each thread to the owner of the monitor that it waits for. A thread waits for one monitor, so it
// is in at most one circle.
func (m *monitors) circles(running []*stackwalk.Thread) [][]answer.Thread {
	var out [][]answer.Thread
	done := map[*stackwalk.Thread]bool{}
	for _, first := range running {
		place := map[*stackwalk.Thread]int{}
		var path []*stackwalk.Thread
		for t := first; t != nil && !done[t]; {
			if from, again := place[t]; again {
				var circle []answer.Thread
				for _, t := range path[from:] {
					circle = append(circle, t.Describe(m.gaps))
				}
				out = append(out, circle)
				break
			}
			place[t] = len(path)
			path = append(path, t)
			b := m.waits[t]
			if b == nil {
				break
			}
			t = ownerOf(m.list, b)
		}
		for _, t := range path {
			done[t] = true
		}
	}
	return out
}
