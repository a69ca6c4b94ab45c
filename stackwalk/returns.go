package stackwalk

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A Return is a word of a stack with the address after a call instruction. The call is still active or has ended.
type Return struct {
	Slot   target.Addr
	IP     target.Addr // value of the word, without a signature
	Callee target.Addr // called code, 0 if the instruction does not show it
}

// Returns iterates over the return addresses among the words of a range. It needs no unwind data, so it works on
// damaged stacks. A part that is not in the dump is an error in the sequence, which continues. An error of ctx ends it.
func (w *Walker) Returns(ctx context.Context, r target.Range) iter.Seq2[Return, error] {
	return func(yield func(Return, error) bool) {
		mem, arch := w.mem, w.target.Platform().Arch
		processor, err := arch.Processor()
		if err != nil {
			yield(Return{}, err)
			return
		}
		pointers := target.Registers{Arch: arch, Signature: w.signature()}
		win := target.NewWindow(mem)
		for at := (r.Start + 7) &^ 7; at < r.End && r.End-at >= 8; {
			word, err := win.Uint64(at)
			if err != nil {
				next, ok := target.NextStored(mem, at+8)
				if !yield(Return{Slot: at}, err) || !ok || next <= at {
					return
				}
				at = (next + 7) &^ 7
				continue
			}
			slot, ip := at, pointers.Code(word)
			if at += 8; at%contextBytes == 0 && ctx.Err() != nil {
				yield(Return{Slot: slot}, ctx.Err())
				return
			}
			if !processor.Mappable(ip) || !w.codes.InCode(ip-1) {
				continue
			}
			callee, ok, err := unwind.CallBefore(mem, arch, ip)
			if err == nil && ok && !yield(Return{Slot: slot, IP: ip, Callee: callee}, nil) {
				return
			}
		}
	}
}

// signature returns the bits of code addresses that hold signatures. All threads of a process have the same.
func (w *Walker) signature() uint64 {
	for _, t := range w.target.Threads() {
		return t.Registers.Signature
	}
	return 0
}

// contextBytes is the number of bytes scanned between two checks of ctx.
const contextBytes = 4096

// Module returns the native module at a. It reports whether there is one.
func (w *Walker) Module(a target.Addr) (target.Module, bool) {
	if w.codes == nil {
		return target.Module{}, false
	}
	if m := w.codes.native.module(a); m != nil {
		return *m, true
	}
	return target.Module{}, false
}

// Runtime returns the runtime of the walked threads, or nil for a Walker of native code.
func (w *Walker) Runtime() *dac.Runtime { return w.rt }
