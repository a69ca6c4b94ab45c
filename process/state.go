package process

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// State returns the state of a premise of conclusions for the process. It looks at lists, tables and memory ranges,
// walks no objects, and reads each state once. A premise of one piece of evidence, such as a queue, holds here: the
// reader of the evidence knows its state.
func (p *Process) State(premise answer.Premise) answer.PremiseState {
	v, _ := p.premises.LoadOrStore(premise, new(lazy.Value[answer.PremiseState]))
	state, _ := v.(*lazy.Value[answer.PremiseState]).Get(func() (answer.PremiseState, error) { return p.readState(premise), nil })
	return state
}

func (p *Process) readState(premise answer.Premise) answer.PremiseState {
	switch premise {
	case answer.HeapWhole:
		return p.heapWhole()
	case answer.NoCollection:
		return p.noCollection()
	case answer.HeapAtRest:
		return p.heapAtRest()
	case answer.RootsRead:
		return p.rootsRead()
	case answer.ThreadsListed:
		return p.threadsListed()
	case answer.StackComplete, answer.AllStacks:
		return p.stacksComplete()
	case answer.CodeFound:
		return p.codeFound()
	case answer.FilesThere:
		return p.filesThere()
	case answer.TablesWhole:
		return p.tablesWhole()
	case answer.HandlesRead:
		return p.handlesRead()
	}
	return answer.PremiseHolds
}

// Premises returns the premises that do not hold for the process, with their states.
func (p *Process) Premises() answer.Premises {
	out := answer.Premises{}
	for _, premise := range answer.AllPremises() {
		if s := p.State(premise); s != answer.PremiseHolds {
			out[premise] = s
		}
	}
	return out
}

// part returns the state of a premise about n things if some of them are missing.
func part(missing, n uint64) answer.PremiseState {
	switch {
	case missing == 0:
		return answer.PremiseHolds
	case missing < n:
		return answer.PremiseDoubtful
	}
	return answer.PremiseBroken
}

// heapWhole is doubtful if a segment, or a part of one, is not in the dump, and broken if the dump has no objects.
func (p *Process) heapWhole() answer.PremiseState {
	h, err := p.Heap()
	if err != nil || h.Unread() != nil {
		return answer.PremiseBroken
	}
	missing, size := h.Missing()
	if state := part(missing, size); state != answer.PremiseHolds || len(h.Lost()) == 0 {
		return state
	}
	return answer.PremiseDoubtful
}

// noCollection is doubtful during a collection. It moves objects and rewrites references: some of what is read may be the collector's work.
func (p *Process) noCollection() answer.PremiseState {
	if h, err := p.Heap(); err == nil && h.InGC() {
		return answer.PremiseDoubtful
	}
	return answer.PremiseHolds
}

// A collectedError is an error that was met during a collection.
type collectedError struct{ err error }

func (e *collectedError) Error() string {
	return "a collection was in progress, and this may be its work: " + e.err.Error()
}

func (e *collectedError) Unwrap() error { return target.ErrInCollection }

// As makes the reason of an empty answer known as such.
func (e *collectedError) As(as any) bool {
	empty, ok := as.(**emptyError)
	return ok && errors.As(e.err, empty)
}

// collected returns err. During a collection the heap is not known to be damaged, and an object may be on its way: a *target.HeapError or an
// object of another type is then target.ErrInCollection. What the collector does not move, such as threads, modules and types, stays corrupt.
func (p *Process) collected(err error) error {
	if errors.As(err, new(*collectedError)) {
		return err
	}
	if (errors.As(err, new(*target.HeapError)) || errors.Is(err, objects.ErrOtherType)) && p.State(answer.HeapAtRest) != answer.PremiseHolds {
		return &collectedError{err}
	}
	return err
}

// heapAtRest is broken during a collection, which can look like damage.
func (p *Process) heapAtRest() answer.PremiseState {
	if p.noCollection() != answer.PremiseHolds {
		return answer.PremiseBroken
	}
	return answer.PremiseHolds
}

// rootsRead is doubtful if handles or stacks are missing, and broken if the dump has neither. Handles also hold the arrays of statics.
func (p *Process) rootsRead() answer.PremiseState {
	handles, stacks := p.State(answer.HandlesRead), p.State(answer.StackComplete)
	switch {
	case handles == answer.PremiseHolds && stacks == answer.PremiseHolds:
		return answer.PremiseHolds
	case handles == answer.PremiseBroken && stacks == answer.PremiseBroken:
		return answer.PremiseBroken
	}
	return answer.PremiseDoubtful
}

// threadsListed is doubtful if a thread can't be read, or if the runtime counts more threads than its list has: it
// is about to start or to end one. It is broken if no thread can be read.
func (p *Process) threadsListed() answer.PremiseState {
	list, err := p.Threads()
	switch {
	case err != nil && len(list) == 0:
		return answer.PremiseBroken
	case err != nil:
		return answer.PremiseDoubtful
	}
	rt, err := p.Runtime()
	if err != nil {
		return answer.PremiseHolds // there are no threads of a runtime: see StacksOnly
	}
	known, _ := rt.Threads() // Threads has returned the error
	if counts, err := rt.ThreadCounts(); err == nil && int(counts.Threads) != len(known) {
		return answer.PremiseDoubtful
	}
	return answer.PremiseHolds
}

// stacksComplete is doubtful if the dump lacks a part of the stack of a managed thread, or the whole stack of some, and
// broken if it has no stack of any.
func (p *Process) stacksComplete() answer.PremiseState {
	list, unread := p.Threads()
	loses := p.losesThreads()
	var all, cut, lost uint64
	for i := range list {
		t := &list[i]
		if loses && t.OS == nil && runs(t) {
			all, lost, cut = all+1, lost+1, cut+1
			continue
		}
		if t.Managed == nil || t.OS == nil {
			continue
		}
		all++
		switch p.stackState(t) {
		case answer.PremiseBroken:
			lost++
			cut++
		case answer.PremiseDoubtful:
			cut++
		}
	}
	switch {
	case all == 0 && unread != nil:
		return answer.PremiseBroken
	case cut > 0 && lost < all:
		return answer.PremiseDoubtful
	}
	return part(lost, all)
}

// StackState returns the state of the stack of a thread, by its OS id, as evidence (answer.StackComplete). The stack of an unknown thread is broken.
func (p *Process) StackState(thread uint32) answer.PremiseState {
	list, _ := p.Threads() // a thread that is missing is unknown
	return p.stackState(stackwalk.ThreadByID(list, thread))
}

// StackStates returns the StackState of each thread that is listed, by OS id.
func (p *Process) StackStates() map[uint32]answer.PremiseState {
	list, _ := p.Threads()
	out := make(map[uint32]answer.PremiseState, len(list))
	for i := range list {
		out[list[i].ID()] = p.stackState(&list[i])
	}
	return out
}

// stackState is broken if the top of a stack is not in the dump, and doubtful if a part below is not.
func (p *Process) stackState(t *stackwalk.Thread) answer.PremiseState {
	if t == nil || t.OS == nil {
		return answer.PremiseBroken
	}
	stack, err := t.Stack(p.Target())
	if err != nil {
		return answer.PremiseBroken
	}
	for i, r := range stack.Ranges {
		if end := stored(p.Memory(), r); end < r.End {
			if i == 0 && end == r.Start {
				return answer.PremiseBroken
			}
			return answer.PremiseDoubtful
		}
	}
	return answer.PremiseHolds
}

// stored returns the end of the stored memory from the start of r on.
func stored(m target.Memory, r target.Range) target.Addr {
	const page = 4096
	at := r.Start
	for at < r.End {
		n := target.Addr(len(m.Span(at)))
		if n == 0 { // memory that is not mapped is read
			if n = min(page-at%page, r.End-at); !target.Available(m, at, int(n)) {
				break
			}
		}
		at += n
	}
	return min(at, r.End)
}

// codeFound is doubtful if the metadata of a module can't be read, and broken if no module has any.
func (p *Process) codeFound() answer.PremiseState {
	rt, err := p.Runtime()
	if err != nil {
		return answer.PremiseBroken
	}
	modules, err := rt.Modules()
	if errors.Is(err, target.ErrUnsupported) {
		return answer.PremiseHolds // a NativeAOT program needs no metadata of modules
	}
	missing := uint64(0)
	for _, m := range modules {
		if _, err := m.Metadata(); err != nil {
			missing++
		}
	}
	if state := part(missing, uint64(len(modules))); err == nil || state == answer.PremiseBroken {
		return state
	}
	return answer.PremiseDoubtful
}

// filesThere is doubtful if neither the dump nor a file has the start of a managed module, and broken if it has none.
func (p *Process) filesThere() answer.PremiseState {
	rt, err := p.Runtime()
	if err != nil {
		return answer.PremiseBroken
	}
	modules, _ := rt.Modules() // codeFound has the error
	var all, missing uint64
	for _, m := range modules {
		at, err := m.Image()
		if err != nil || at.Start == 0 {
			continue // it was never in a file
		}
		all++
		if !target.Available(p.Memory(), at.Start, 2) {
			missing++
		}
	}
	return part(missing, all)
}

// tablesWhole is doubtful if a sync block can't be read, and broken if the table can't.
func (p *Process) tablesWhole() answer.PremiseState {
	rt, err := p.Runtime()
	if err != nil {
		return answer.PremiseBroken
	}
	var all, missing uint64
	for _, err := range rt.SyncBlocks() {
		all++
		if errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt) {
			missing++
		}
	}
	return part(missing, all)
}

// handlesRead is doubtful if a table of handles can't be read, and broken if none can.
func (p *Process) handlesRead() answer.PremiseState {
	h, err := p.Heap()
	if err != nil {
		return answer.PremiseBroken
	}
	read, err := h.CheckHandles()
	switch {
	case err == nil:
		return answer.PremiseHolds
	case read:
		return answer.PremiseDoubtful
	}
	return answer.PremiseBroken
}
