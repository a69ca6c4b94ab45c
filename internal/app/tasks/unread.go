package tasks

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Unread returns the delegates to which only variables of the suspended async method at a refer that its code reads no more, and the object with these
// variables: the box, or a state machine that is an object of its own. It returns nothing if that is not known, and for other tasks.
func (r *Reader) Unread(a target.Addr) (in target.Addr, delegates []target.Addr) {
	k, err := r.kindOf(a)
	if err != nil || !k.async() {
		return 0, nil
	}
	x, m, err := r.machineOf(k, a)
	if err != nil || m.stateless {
		return 0, nil
	}
	p, err := r.AwaitOf(a)
	if err != nil || p == nil {
		return 0, nil
	}
	read, err := p.reads()
	if err != nil {
		return 0, nil
	}
	fields, err := m.typ.Fields()
	if err != nil {
		return 0, nil
	}
	still, gone := map[target.Addr]bool{}, map[target.Addr]bool{}
	for _, f := range fields {
		if f.Static || f.Err() != nil {
			continue
		}
		v := f.At(target.Addr(x))
		if v.Kind() != objects.KindReference {
			continue // a struct's delegates are no variables of their own
		}
		to, err := v.Addr()
		if err != nil || to == 0 {
			continue
		}
		if o, err := r.r.TrustedObject(to); err != nil || !IsDelegate(o.Type) || read[f.Name] {
			still[to] = true
		} else if !gone[to] {
			gone[to] = true
			delegates = append(delegates, to)
		}
	}
	n := 0
	for _, to := range delegates {
		if !still[to] {
			delegates[n], n = to, n+1
		}
	}
	if o, err := r.r.TrustedObject(target.Addr(x) - dac.ObjectHeaderBytes); err == nil && o.Type == m.typ {
		return o.Addr, delegates[:n]
	}
	return a, delegates[:n]
}

// reads returns the names of the fields that the method may still read.
func (p *AwaitPoint) reads() (map[string]bool, error) {
	first, err := turn(p.Code, p.At)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for in, err := range metadata.Instructions(p.Code) {
		if err != nil {
			return nil, err
		}
		if op := in.Opcode.String(); in.Offset >= first && (op == "ldfld" || op == "ldflda") {
			name := p.Member(in.Token())
			out[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
	}
	return out, nil
}
