package dap

import (
	"container/list"
	"context"
	"sync"

	"github.com/google/go-dap"
)

// mostHandles is how many variables with children a client may hold; the one that was used least recently goes first.
const mostHandles = 100_000

// A node is what a client can expand.
type node interface {
	// children lists at most count children from start on, of the kind that is asked for; see part.
	children(ctx context.Context, s *session, p part) ([]dap.Variable, error)
}

// A part is which children are wanted.
type part struct {
	named, indexed bool
	start, count   int // of the indexed ones; count 0 is as many as fit
}

// handles keeps nodes by the numbers that clients know them by.
type handles struct {
	mu   sync.Mutex
	last int
	of   map[int]*list.Element
	used list.List // of *handle, the one that was used last first
}

type handle struct {
	id   int
	node node
}

func (h *handles) add(n node) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[int]*list.Element{}
	}
	h.last++
	h.of[h.last] = h.used.PushFront(&handle{h.last, n})
	if len(h.of) > mostHandles {
		oldest := h.used.Back()
		h.used.Remove(oldest)
		delete(h.of, oldest.Value.(*handle).id)
	}
	return h.last
}

// get returns a node; nil if there is none of that number, or it was dropped.
func (h *handles) get(id int) node {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.of[id]
	if e == nil {
		return nil
	}
	h.used.MoveToFront(e)
	return e.Value.(*handle).node
}
