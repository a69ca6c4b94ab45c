package crash

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// A smash is a part of a stack that was overwritten.
type smash struct {
	slot    target.Addr // the place of a return address
	returns target.Addr // what stands there
	over    target.Range
	method  string // the method that returns there, or "" if a return has led there
}

// An outer is the outermost managed frame of the thread that died.
type outer struct {
	callerSP target.Addr // 0 if unknown
	method   string
}

// smashed returns the overwritten part of the stack of the thread that died, or nil. Either a return has led to nobody's code, or the outermost
// managed frame, which native code has called, returns there.
func (d *describer) smashed() *smash {
	p, err := d.p.Target().Platform().Arch.Processor()
	if err != nil || p.ReturnAddressSize != 8 || d.out.Alive || d.died.Exception != nil && received(d.died.Exception, d.p.Target().Process().ID) {
		return nil
	}
	if f := d.fault; f != nil {
		ip, _ := f.regs.IP()
		sp, known := f.regs.SP()
		if w, read := d.word(sp - 8); known && f.where == "" && read && w == ip && d.nobodys(ip) && !d.returnsHere(sp) {
			return d.smash(sp-8, ip, "")
		}
	}
	if at := d.outer.callerSP; at != 0 {
		if w, read := d.word(at - 8); read && d.nobodys(w) {
			return d.smash(at-8, w, d.outer.method)
		}
	}
	return nil
}

// returnsHere reports whether the word at a may be a return address: a call ends where it points, or it is not in the dump.
func (d *describer) returnsHere(a target.Addr) bool {
	w, read := d.word(a)
	if !read {
		return true
	}
	_, call, err := unwind.CallBefore(d.p.Memory(), d.p.Target().Platform().Arch, w)
	return call || err != nil && !d.nobodys(w)
}

// word returns the word at a. It reports false if the word is not in the dump: nothing is concluded from it then.
func (d *describer) word(a target.Addr) (target.Addr, bool) {
	w, err := target.Pointer(d.p.Memory(), a)
	return w, err == nil
}

// nobodys reports whether a can't be in code: it is in no module and in no memory that the process may execute. Without a list of memory only
// an address that is not canonical can't.
func (d *describer) nobodys(a target.Addr) bool {
	if reportedAsZero(a) {
		return true
	}
	if target.ModuleAt(d.p.Target().Modules(), a) != nil {
		return false
	}
	listed := false
	for r := range d.p.Target().Regions() {
		if r.Prot&target.ProtExec == 0 {
			continue
		}
		if listed = true; target.RangeAt(r.Start, r.Size).Contains(a) {
			return false
		}
	}
	return listed
}

// smash returns the part around slot, which has the word returns, that was overwritten with the same word, or with text.
func (d *describer) smash(slot, returns target.Addr, method string) *smash {
	s := &smash{slot: slot, returns: returns, over: target.RangeAt(slot, 8), method: method}
	alike := func(w target.Addr) bool { return w == s.returns || isText(w) && isText(s.returns) }
	for range mostSmashed {
		if w, err := target.Pointer(d.p.Memory(), s.over.Start-8); err != nil || !alike(w) {
			break
		}
		s.over.Start -= 8
	}
	for range mostSmashed {
		if w, err := target.Pointer(d.p.Memory(), s.over.End); err != nil || !alike(w) {
			break
		}
		s.over.End += 8
	}
	return s
}

// mostSmashed bounds the search for an end of an overwritten part, in words.
const mostSmashed = 64 << 10

// isText reports whether all bytes of a word are printable ASCII.
func isText(w target.Addr) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(w))
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// concludeSmashed says which part of the stack was overwritten.
func (d *describer) concludeSmashed(s *smash) {
	says := words.ReturnLed.Of(words.Address(s.over.Start), words.Address(s.over.End), words.Address(s.returns))
	if s.method != "" {
		says = words.MethodReturns.Of(words.Address(s.over.Start), words.Address(s.over.End), words.Method(s.method), words.Address(s.returns))
	}
	evidence := []answer.Statement{words.ReturnPlace.Of(words.Address(s.slot), words.Address(s.returns), readAsText(s.returns))}
	if d.gaveUp {
		evidence = append(evidence, words.HandlingGaveUp.Of())
	}
	d.blame(says, answer.StrengthLikely, evidence...)
}
