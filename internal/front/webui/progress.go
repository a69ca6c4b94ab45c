package webui

import (
	"context"
	"sync"
)

// mostWatched is how many questions are watched at a time: those that run, and some that wait for their turn.
const mostWatched = 64

// A Work is a piece of work that an answer needs, and how far it is.
type Work struct {
	Name string                                 // for people
	At   func() (done, total uint64, runs bool) // a total of 0 is unknown
}

// A Watch records the work for one question. It is safe for concurrent use.
type Watch struct {
	mu   sync.Mutex
	work []Work
}

type watchKey struct{}

// WatchOf returns what records the work for the question that ctx belongs to. It is nil if nobody watches, and its methods do nothing then.
func WatchOf(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// Begin records that a piece of work begins.
func (w *Watch) Begin(work Work) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work = append(w.work, work)
}

// progress is what the page shows of a question that runs.
type progress struct {
	Work  string `json:"work"`
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// now returns the last piece of work that runs.
func (w *Watch) now() (at progress, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.work) > 0 {
		last := w.work[len(w.work)-1]
		if done, total, runs := last.At(); runs {
			return progress{last.Name, done, total}, true
		}
		w.work = w.work[:len(w.work)-1]
	}
	return progress{}, false
}

// watches are the questions that are watched, by the names that the page gave them.
type watches struct {
	mu sync.Mutex
	by map[string]*Watch
}

// add returns ctx with a watch for the question of this name, and what ends it. Without a name, or with too many, nobody watches.
func (l *watches) add(ctx context.Context, name string) (context.Context, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == "" || len(l.by) >= mostWatched || l.by[name] != nil {
		return ctx, func() {}
	}
	if l.by == nil {
		l.by = map[string]*Watch{}
	}
	w := &Watch{}
	l.by[name] = w
	return context.WithValue(ctx, watchKey{}, w), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, name)
	}
}

// at returns how far the question of this name is.
func (l *watches) at(name string) (progress, bool) {
	l.mu.Lock()
	w := l.by[name]
	l.mu.Unlock()
	if w == nil {
		return progress{}, false
	}
	return w.now()
}
