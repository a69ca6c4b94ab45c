package unwind

import "github.com/sosgo/sosgo/target"

func (c *Cursor) stepARM64(f *Frame, exact bool) error { return errEnd }
func (c *Cursor) returnARM64(f *Frame) error           { return errEnd }

type arm64Info struct{}

func codeARM64(mem target.Memory, base target.Addr, e []byte, rva uint32) (Code, bool) {
	return Code{}, false
}
