package dac

import (
	"github.com/sosgo/sosgo/target"
)

// threadSearch is the number of bytes of a Thread to search for the replaced return address. It exceeds the
// largest known offset.
const threadSearch = 0xc00

// HijackedReturn returns the return address that the runtime replaced in the word at slot of t's stack to stop
// the thread when the method returns (threadsuspend.cpp, Thread::HijackThread). It returns false if no address
// was replaced there.
//
// A Thread keeps the address right before the address of the word (m_pvHJRetAddr, m_ppvHJRetAddrPtr). No layout
// has that offset, but the word's address is nowhere else in a Thread. The caller must prove that the result is
// in managed code.
func (r *Runtime) HijackedReturn(t *Thread, slot target.Addr) (target.Addr, bool) {
	if t == nil {
		return 0, false
	}
	if t.State&ThreadHijacked == 0 {
		return 0, false
	}
	win := target.NewWindow(r.mem)
	var before uint64
	for off := target.Addr(0); off < threadSearch; off += 8 {
		word, err := win.Uint64(t.Addr + off)
		if err != nil {
			break
		}
		if target.Addr(word) == slot && before != 0 {
			return target.Addr(before), true
		}
		before = word
	}
	return 0, false
}
