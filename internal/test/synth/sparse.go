package synth

import (
	"encoding/binary"
	"fmt"
	"os"
)

// holesAt is the address of GrowELF's segments: below everything that Linux gives a process by
// default.
const holesAt = 0x1000_0000_0000

// GrowELF writes a core to path with count more segments of zeros, which share size bytes of the
// file. They are holes, so the file takes hardly more disk space than core. Each segment is a
// separate mapping, followed by a page without memory.
func GrowELF(path string, core []byte, size int64, count int) error {
	le := binary.LittleEndian
	old, n := le.Uint64(core[32:]), int(le.Uint16(core[56:]))
	each := uint64(size) / uint64(count) / elfPage * elfPage
	if n+count >= 0xffff {
		return fmt.Errorf("%d segments need another form of header", n+count)
	}
	if each == 0 {
		return fmt.Errorf("%d bytes are too few for %d segments", size, count)
	}
	headers := append([]byte(nil), core[old:old+56*uint64(n)]...)
	for i := range n {
		if h := headers[56*i:]; le.Uint32(h) == 1 && le.Uint64(h[16:]) < holesAt+(each+elfPage)*uint64(count) && le.Uint64(h[16:])+le.Uint64(h[40:]) > holesAt {
			return fmt.Errorf("segment %d lies where the holes are to be", i)
		}
	}
	at := (uint64(len(core)) + elfPage - 1) / elfPage * elfPage
	for i := range uint64(count) {
		headers = append(headers, Fields(uint32(1), uint32(6), at+i*each, holesAt+i*(each+elfPage), uint64(0), each, each, uint64(elfPage))...)
	}
	at += each * uint64(count)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	first := append([]byte(nil), core[:64]...)
	le.PutUint64(first[32:], at)
	le.PutUint16(first[56:], uint16(n+count))
	if _, err := f.Write(core); err != nil {
		return err
	}
	if _, err := f.WriteAt(first, 0); err != nil {
		return err
	}
	if _, err := f.WriteAt(headers, int64(at)); err != nil {
		return err
	}
	return f.Close()
}
