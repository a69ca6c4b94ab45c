package process

import (
	"github.com/sosgo/sosgo/answer"
)

// Premises returns which premises of conclusions hold for the process. It opens the heap and lists the threads; it walks nothing.
//
// A collection in progress moves objects and rewrites references: an object that looks damaged may be the collector's work, and what is
// concluded from references is weaker. Threads that can't be listed may be the ones that a conclusion is about.
func (p *Process) Premises() answer.Premises {
	state, _ := p.premises.Get(func() (answer.Premises, error) { return p.readPremises(), nil })
	return state
}

func (p *Process) readPremises() answer.Premises {
	state := answer.Premises{}
	if h, err := p.Heap(); err == nil && h.InGC() {
		state[answer.HeapAtRest] = answer.PremiseBroken
		state[answer.NoCollection] = answer.PremiseDoubtful
	}
	if _, err := p.Threads(); err != nil {
		state[answer.ThreadsListed] = answer.PremiseDoubtful
	}
	return state
}
