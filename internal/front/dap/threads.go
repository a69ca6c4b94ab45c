package dap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
)

// A thread is a thread of the operating system.
type thread struct {
	id      int // its OS id
	os      answer.OSThread
	of      *stackwalk.Thread
	managed *answer.ManagedThread // nil if no runtime knows the thread
	carried answer.CarriedState   // the state of its last thrown exception; empty if none or unknown
	view    *process.Process      // the view of the runtime that knows the thread, or else the session's
	rank    int
	threw   bool // its last exception is on its way
}

// Ranks of threads in the list, highest first.
const (
	rankCrashed = iota
	rankFound   // the first finding is about it
	rankThrew
	rankBlocked
	rankOther
	rankIdle
	rankNative
)

// threadTable caches the threads.
type threadTable struct {
	once[[]*thread]
	crash once[*answer.Crash]
	found atomic.Pointer[[]uint32] // OS ids of the threads of the first finding, if it is known
}

func (t *threadTable) get(ctx context.Context, s *session) ([]*thread, error) {
	return t.once.get(ctx, s.readThreads)
}

// readThreads lists the threads by rank, then by number.
func (s *session) readThreads(ctx context.Context) ([]*thread, error) {
	list, err := stacks.OSThreads(ctx, s.view)
	if err != nil {
		return nil, err
	}
	known, err := s.view.Threads()
	if len(known) == 0 && err != nil {
		return nil, err
	}
	out := make([]*thread, 0, len(list.Threads))
	byID := map[uint32]*thread{}
	for i := range list.Threads {
		t := &thread{id: int(list.Threads[i].OSID), os: list.Threads[i], view: s.view, rank: rankNative}
		if t.of = stackwalk.ThreadByID(known, list.Threads[i].OSID); t.of == nil || byID[t.os.OSID] != nil {
			continue // clients can't distinguish two threads with one id
		}
		out, byID[t.os.OSID] = append(out, t), t
	}
	s.joinManaged(ctx, byID)
	s.joinExceptions(ctx, out)
	found := s.threads.found.Load()
	for _, t := range out {
		switch {
		case t.os.Crashed != "":
			t.rank = rankCrashed
		case found != nil && slices.Contains(*found, t.os.OSID):
			t.rank = rankFound
		}
	}
	slices.SortStableFunc(out, func(a, b *thread) int { return cmp.Compare(a.rank, b.rank) })
	return out, ctx.Err()
}

// joinManaged adds the managed state of threads. It skips a runtime that cannot list its threads, since the frames
// show the reason.
func (s *session) joinManaged(ctx context.Context, byID map[uint32]*thread) {
	for _, v := range s.views() {
		list, err := stacks.ManagedThreads(ctx, v, stacks.ManagedOptions{Activities: true})
		if err != nil {
			continue
		}
		for i := range list.Threads {
			m := &list.Threads[i]
			t := byID[m.OSID]
			if t == nil || m.OSID == 0 || t.managed != nil {
				continue
			}
			t.managed, t.view, t.rank = m, v, rankOf(m)
		}
	}
}

// joinExceptions adds the state of each thread's last thrown exception. An exception handled long ago is not a reason
// to stop.
func (s *session) joinExceptions(ctx context.Context, list []*thread) {
	crash, err := s.crash(ctx)
	if err != nil {
		return
	}
	for _, t := range list {
		if t.managed == nil || t.managed.Exception == nil {
			continue
		}
		for i := range crash.Carried {
			if c := &crash.Carried[i]; c.Thread.OSID == t.os.OSID && c.Exception == t.managed.Exception.Address {
				t.carried = c.State
			}
		}
		if t.carried != "" && t.carried != answer.CarriedLast {
			t.rank, t.threw = rankThrew, true
		}
	}
}

// views returns the session's view, then the views of the other runtimes.
func (s *session) views() []*process.Process {
	out := []*process.Process{s.view}
	for _, inst := range s.opened.Dump.Runtimes() {
		if v, err := s.opened.Dump.Process(fmt.Sprintf("#%d", inst.Index)); err == nil && v != s.view {
			out = append(out, v)
		}
	}
	return out
}

func rankOf(m *answer.ManagedThread) int {
	if m.Activity == nil {
		return rankOther
	}
	switch m.Activity.Kind {
	case answer.ActivityLock, answer.ActivityMonitor, answer.ActivityEvent, answer.ActivityTask, answer.ActivityJoin, answer.ActivityStaticInit:
		return rankBlocked
	case answer.ActivityIdle:
		return rankIdle
	}
	return rankOther
}

// find returns the thread with an OS id.
func (t *threadTable) find(ctx context.Context, s *session, id int) (*thread, error) {
	list, err := t.get(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if t.id == id {
			return t, nil
		}
	}
	return nil, fmt.Errorf("there is no thread %d", id)
}

func (s *session) listThreads(ctx context.Context) (any, error) {
	list, err := s.threads.get(ctx, s)
	if err != nil {
		return nil, err
	}
	body := dap.ThreadsResponseBody{Threads: make([]dap.Thread, len(list))}
	for i, t := range list {
		body.Threads[i] = dap.Thread{Id: t.id, Name: t.name()}
	}
	return body, nil
}

// name returns the thread's number in the command threads, its name, its OS id and its activity.
func (t *thread) name() string {
	var b strings.Builder
	if t.os.Index != nil {
		fmt.Fprintf(&b, "#%d ", *t.os.Index)
	}
	name := t.os.Name
	if m := t.managed; m != nil {
		name = cmpText(name, m.Name, strings.Join(m.Special, ", "))
	}
	if name != "" {
		b.WriteString(name + " ")
	}
	fmt.Fprintf(&b, "(%#x)", t.os.OSID)
	switch m := t.managed; {
	case t.os.Crashed != "":
		b.WriteString(": crashed, " + t.os.Crashed)
	case m == nil:
	case t.threw:
		b.WriteString(": threw " + m.Exception.Type.String())
	case m.Activity != nil && m.Activity.Text != "":
		b.WriteString(": " + m.Activity.Text)
	}
	return b.String()
}
