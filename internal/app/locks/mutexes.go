package locks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ownedElsewhere describes where the owner of a Mutex is recorded. The class library records it only if it implements
// wait handles itself.
func (s *survey) ownedElsewhere() string {
	for range objects.LoadedShapes[*waitable](s.r.b) {
		return ownerUnknown
	}
	return "is not in managed memory"
}

// mutexOwner returns the thread that owns a Mutex. It returns nil if the Mutex is free or the class library does not
// record the owner, and notes unreadable parts of the record.
func (s *survey) mutexOwner(o objects.Object) *stackwalk.Thread {
	if is, err := objects.IsShape[*mutex](s.r.b, o.Type); !is || err != nil || s.ownedElsewhere() != ownerUnknown {
		return nil
	}
	owner, err := s.mutexRecord(o)
	if err != nil {
		s.gaps.Note(fmt.Errorf("owner of the Mutex %016x: %w", uint64(o.Addr), err))
		return nil
	}
	if owner.Addr == 0 {
		return nil
	}
	return s.thread(owner)
}

// mutexRecord returns the Thread object that the class library records as the owner of a Mutex, or the zero Object.
func (s *survey) mutexRecord(o objects.Object) (owner objects.Object, err error) {
	handle, x, err := objects.BindObject[*waitHandle](s.r.b, o)
	if err != nil {
		return owner, err
	}
	safe, err := handle.Safe.Object(x)
	if err != nil || safe.Addr == 0 {
		return owner, err
	}
	value, x, err := objects.BindObject[*safeHandle](s.r.b, safe)
	if err != nil {
		return owner, err
	}
	at, err := value.Handle.Value(x).Addr()
	if err != nil || at == 0 {
		return owner, err
	}
	a, err := target.Pointer(s.r.rt.Memory(), at)
	if err != nil {
		return owner, err
	}
	state, err := s.r.b.Objects().Proven(a)
	if err != nil {
		return owner, err
	}
	w, x, err := objects.BindObject[*waitable](s.r.b, state)
	if err != nil {
		return owner, err
	}
	info, err := w.Ownership.Object(x)
	if err != nil || info.Addr == 0 {
		return owner, err
	}
	own, x, err := objects.BindObject[*ownership](s.r.b, info)
	if err != nil {
		return owner, err
	}
	return own.Owner.Object(x)
}

// mutexHolder returns the thread that is past its wait for a Mutex and has not released it, by its code, or nil if there is no such thread, or more than one.
func (s *survey) mutexHolder(o objects.Object) *stackwalk.Thread {
	if list := s.mutexHolders(o); len(list) == 1 {
		return list[0].thread
	}
	return nil
}

// mutexHolders finds the threads that are past a wait for a Mutex and have not released it, by their code. There are none for another object.
func (s *survey) mutexHolders(o objects.Object) []holder {
	list, known := s.mutexes[o.Addr]
	if known {
		return list
	}
	if is, err := objects.IsShape[*mutex](s.r.b, o.Type); is && err == nil {
		list = s.pastWaits(releasesMutex, func(around *tasks.Around) *tasks.Call { return pastHandle(around, o.Addr, releasesMutex) })
	}
	if s.mutexes == nil {
		s.mutexes = map[target.Addr][]holder{}
	}
	s.mutexes[o.Addr] = list
	return list
}

// releasesMutex reports whether a method releases a Mutex.
func releasesMutex(method string) bool { return method == "Mutex.ReleaseMutex" }

// mutex returns the pace of a Mutex that threads wait for, by the code of the threads that may hold it: one of them may be about to release it.
func (c *course) mutex(o objects.Object) pace {
	return c.judged(o.Addr, func() pace {
		holders := c.g.s.mutexHolders(o)
		if len(holders) == 0 {
			return pace{}
		}
		p := c.all(holders, c.g.atHandle(o.Addr), crowd)
		repeats, patient := c.g.repeating(holders), p.timed && p.turn <= patiently && c.g.standBy(o.Addr)
		p.moves = p.moves && !repeats || patient && (!repeats || !slices.ContainsFunc(holders, func(h holder) bool { return !c.g.s.works(&h) }))
		return p
	})
}

// standBy reports whether all threads that wait for a handle of the operating system do so for a constant limited time in a loop: they ask for it again and again,
// as those do that stand by for a lease.
func (g *grapher) standBy(handle target.Addr) bool {
	return !slices.ContainsFunc(g.s.waits, func(w *wait) bool {
		return w.lock == nil && w.more == 0 && w.object.Addr == handle && !g.s.asksAgain(w.thread)
	})
}

// asksAgain reports whether a thread waits for a handle for a constant limited time, by the program's innermost method, in a loop of that.
func (s *survey) asksAgain(t *stackwalk.Thread) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		at, err := reach.ILOffset(&f.Frame)
		if err != nil {
			return false
		}
		method, parameters, err := s.found.tasks.CalledAt(f.md, at, "WaitHandle")
		loops, lerr := ilflow.Around(f.body.Code, at)
		if err != nil || lerr != nil || len(loops) == 0 {
			return false
		}
		unit, called := time.Millisecond, entersKernel(method) && slices.Equal(parameters, []string{"Int32"})
		if u, ok := spans[method]; ok { // the argument of the wait
			wait, parameters, err := s.found.tasks.CalledAt(f.md, at, "WaitHandle", slices.Collect(maps.Keys(spans))...)
			unit, called = u, err == nil && entersKernel(wait) && slices.Equal(parameters, []string{"System.TimeSpan"})
		}
		n, known := ilflow.ArgumentBehind(f.body.Code, at)
		return called && known && n > 0 && time.Duration(n)*unit <= patiently
	}
	return false
}

// spans are the methods that make a TimeSpan of a number, with their units.
var spans = map[string]time.Duration{"TimeSpan.FromMilliseconds": time.Millisecond, "TimeSpan.FromSeconds": time.Second}

// works reports whether a thread that holds something goes on in a loop in which it does something beside waiting: it stores in a field or calls code of the
// program, in the holder's method itself.
func (s *survey) works(h *holder) bool {
	if h.thread == nil {
		return false
	}
	for f, err := range s.programFrames(h.thread) {
		if err != nil {
			return false
		}
		if f.Frame.SP != h.frame {
			continue
		}
		at, err := reach.ILOffset(&f.Frame)
		if err != nil {
			return false
		}
		loops, err := ilflow.Around(f.body.Code, at)
		if err != nil {
			return false
		}
		for in, err := range metadata.Instructions(f.body.Code) {
			if err != nil {
				return false
			}
			op := in.Opcode.String()
			does := op == "stfld" || op == "stsfld" || strings.HasPrefix(op, "call") && in.Token().Table() == metadata.TableMethodDef
			if does && slices.ContainsFunc(slices.Collect(maps.Keys(loops)), func(start int) bool { return start > h.entered && start <= in.Offset && in.Offset < loops[start] }) {
				return true
			}
		}
	}
	return false
}

// atHandle returns how many threads wait for a handle of the operating system.
func (g *grapher) atHandle(handle target.Addr) (n int) {
	for _, w := range g.s.waits {
		if w.lock == nil && w.more == 0 && w.object.Addr == handle {
			n++
		}
	}
	return n
}

// ownerUnknown describes a Mutex's owner that the class library records but that was not found.
const ownerUnknown = "is not known"

// sharedHandles describes each Mutex and Semaphore of the operating system that several threads wait for. It names no
// holder. Events are left out: threads without work wait for them.
func (g *grapher) sharedHandles() []answer.Verdict {
	var order []target.Addr
	by := map[target.Addr][]*wait{}
	end, strength := map[target.Addr]answer.Statement{}, map[target.Addr]answer.Strength{}
	for _, w := range g.s.waits {
		if w.lock != nil || w.join || w.more > 0 || w.remote != "" || w.object.Addr == 0 || len(w.runners) > 0 && !w.byCode || g.circled[w] || g.described[w] {
			continue
		}
		a := w.object.Addr
		if is, err := objects.IsShape[*mutex](g.s.r.b, w.object.Type); is && err == nil {
			end[a], strength[a] = words.OwnerWords.Of(words.Text(g.s.ownedElsewhere())), answer.StrengthLikely
		} else if is, err := objects.IsShape[*kernelSemaphore](g.s.r.b, w.object.Type); is && err == nil && !w.libraryIdles() {
			end[a], strength[a] = words.NoEntryRecord.Of(), answer.StrengthPossible
		} else {
			continue
		}
		if by[a] == nil {
			order = append(order, a)
		}
		by[a] = append(by[a], w)
	}
	var out []answer.Verdict
	for _, a := range order {
		alike := by[a]
		if len(alike) < 2 || strength[a] == answer.StrengthPossible && g.passesOn(a, len(alike)) || g.course().mutex(alike[0].object).moves {
			continue
		}
		if strength[a] == answer.StrengthLikely && g.mutexPasses(alike) || len(alike) < crowd && g.enteredUnseen(alike[0]) {
			continue
		}
		owner := end[a]
		if holders := alike[0].runners; len(holders) == 1 {
			owner = words.OwnerThread.Of(g.name(holders[0]), g.onward(holders, alike[0]))
		}
		names := make([]answer.Statement, len(alike))
		for i, w := range alike {
			names[i] = g.name(w.thread)
		}
		v := answer.Conclude(answer.FindingWait, words.SameHandle.Of(words.N(len(alike)), g.what(alike[0]), words.Join(", ", names...), owner), strength[a], g.evidences(alike)...)
		v.Count, v.Show, v.Sites, v.Thing = len(alike), g.show(alike[0]), g.sites(alike), g.what(alike[0]).Text
		out = append(out, v)
	}
	return out
}

// mutexPasses reports whether threads wait for a Mutex that no thread is found to hold, while fewer than most wait and each gives it back later: it has just
// passed to one of them, which the dump shows where it was stopped. What another process holds looks alike.
func (g *grapher) mutexPasses(alike []*wait) bool {
	o := alike[0].object
	return len(alike) < crowd && len(g.s.mutexHolders(o)) == 0 && !slices.ContainsFunc(alike, func(w *wait) bool { return !g.s.givesHandle(w.thread, o.Addr) })
}

// givesHandle reports whether a method of the program on a thread's stack releases a Mutex later, or disposes of what has entered one.
func (s *survey) givesHandle(t *stackwalk.Thread, handle target.Addr) bool {
	for f, err := range s.programFrames(t) {
		if err != nil {
			return false
		}
		around, err := s.around(t, &f.Frame, f.md)
		if err == nil && slices.ContainsFunc(around.Later, func(c tasks.Call) bool {
			return releasesMutex(c.Method) && (c.Object == handle || c.Object == 0) || c.Through == "" && strings.HasSuffix(c.Method, ".Dispose")
		}) {
			return true
		}
	}
	return false
}
