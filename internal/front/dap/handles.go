package dap

import (
	"container/list"
	"context"
	"sync"

	"github.com/google/go-dap"
)

// mostHandles is the maximum number of expandable variables that a client holds. The least recently used one is
// dropped first.
const mostHandles = 100_000

// A node is a variable that a client can expand.
type node interface {
	// children lists the children that p selects.
	children(ctx context.Context, s *session, p part) ([]dap.Variable, error)
}

// A part selects children.
type part struct {
	named, indexed bool
	start, count   int // of the indexed ones; count 0 means as many as fit
}

// handles maps the numbers that clients use to nodes.
type handles struct {
	mu   sync.Mutex
	last int
	of   map[int]*list.Element
	used list.List // of *handle, most recently used first
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

// get returns the node with that number, or nil if it is unknown or was dropped.
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
