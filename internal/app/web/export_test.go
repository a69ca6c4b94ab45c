package web

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
)

// WaitingIn returns the requests in the queues of a pool.
func (r *Reader) WaitingIn(queues []objects.Value) ([]answer.HTTPWait, []error) {
	var gaps answer.Gaps
	var out answer.HTTPPool
	r.queues(shapes.Reading{Gaps: &gaps, Binder: r.b}, &out, queues)
	return out.Waiting, gaps.Noted()
}

// ObjectOf returns an object of the heap with its fields.
func (r *Reader) ObjectOf(o heap.Object) (objects.Object, error) { return r.b.Objects().Of(o) }
