package webui

import (
	"context"
	"sync"
)

// mostWatched is the maximum number of questions watched at a time, including waiting ones.
const mostWatched = 64

// A Work is a piece of work for an answer, with its progress.
type Work struct {
	Name string                                 // for people
	At   func() (done, total uint64, runs bool) // total is 0 if unknown
}

// A Watch records the work for one question. It is safe for concurrent use.
type Watch struct {
	mu   sync.Mutex
	work []Work
}

type watchKey struct{}

// WatchOf returns the watch in ctx. It is nil if nobody watches; its methods then do nothing.
func WatchOf(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// Begin records the start of a piece of work.
func (w *Watch) Begin(work Work) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work = append(w.work, work)
}

// progress is the progress of a running question, as shown by the page.
type progress struct {
	Work  string `json:"work"`
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

// now returns the progress of the latest running work.
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

// watches maps the page's names of questions to their watches.
type watches struct {
	mu sync.Mutex
	by map[string]*Watch
}

// add returns ctx with a watch for the named question, and a function that ends the watch. It adds none if name is
// empty or in use, or if there are too many.
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

// at returns the progress of the named question.
func (l *watches) at(name string) (progress, bool) {
	l.mu.Lock()
	w := l.by[name]
	l.mu.Unlock()
	if w == nil {
		return progress{}, false
	}
	return w.now()
}
