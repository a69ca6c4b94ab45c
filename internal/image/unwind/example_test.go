package unwind_test

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A process is a stack and two functions that change only the return address.
type process struct {
	stack target.Addr
	words []byte
}

func (p *process) Span(a target.Addr) []byte {
	if a < p.stack || a >= p.stack+target.Addr(len(p.words)) {
		return nil
	}
	return p.words[a-p.stack:]
}

func (p *process) View(a target.Addr, n int) ([]byte, bool) {
	b := p.Span(a)
	if len(b) < n {
		return nil, false
	}
	return b[:n], true
}

func (p *process) ReadMemory(b []byte, a target.Addr) (int, error) {
	n := copy(b, p.Span(a))
	if n < len(b) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(b) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (p *process) FindCode(ip target.Addr) (unwind.Code, bool) {
	start := ip &^ 0xff
	return unwind.Code{Range: target.Range{Start: start, End: start + 0x100}, Format: unwind.FormatLeaf}, p.InCode(ip)
}

func (p *process) InCode(ip target.Addr) bool { return ip >= 0x401000 && ip < 0x401200 }

// Walk a stack with functions that push nothing.
func Example() {
	p := &process{stack: 0x7ff000, words: binary.LittleEndian.AppendUint64(nil, 0x401110)}
	p.words = binary.LittleEndian.AppendUint64(p.words, 0) // the outermost function has no caller
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(0x401008)
	regs.SetSP(p.stack)
	for f := range unwind.New(p, p).Walk(regs, target.Range{Start: p.stack, End: p.stack + 16}) {
		ip, _ := f.Regs.IP()
		sp, _ := f.Regs.SP()
		fmt.Println(ip, sp, f.Trust, f.Err)
	}
	// Output:
	// 0000000000401008 00000000007ff000 context <nil>
	// 0000000000401110 00000000007ff008 unwind <nil>
}
