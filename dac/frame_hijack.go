package dac

import (
	"github.com/sosgo/sosgo/target"
)

// threadSearch is how far into a Thread the replaced return address is looked for, in bytes: more than any has had.
const threadSearch = 0xc00

// HijackedReturn returns the return address that the runtime replaced in the word at slot of t's stack, so that the thread stops when the
// method returns (threadsuspend.cpp, Thread::HijackThread). A Thread keeps it right before the address of the word (m_pvHJRetAddr,
// m_ppvHJRetAddrPtr). No layout has that offset, but a Thread has the word's address nowhere else. The caller must prove that the result is
// in managed code. HijackedReturn reports false if no address was replaced there.
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
