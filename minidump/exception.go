package minidump

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// MINIDUMP_EXCEPTION_STREAM, and EXCEPTION_MAXIMUM_PARAMETERS of winnt.h.
const (
	exceptionStreamSize    = 168
	exceptionMaxParameters = 15
)

// Exception implements target.Target. Its registers are from the moment of the exception; those of
// Threads are from the moment of the dump.
func (f *File) Exception() (target.Exception, bool) {
	e := f.exception.get(f.loadException)
	if e == nil {
		return target.Exception{}, false
	}
	return *e, true
}

func (f *File) loadException(n *notes) *target.Exception {
	s, ok := f.section(ExceptionStream, n)
	if !ok {
		return nil
	}
	c := s.cursor()
	b := c.Take(exceptionStreamSize)
	if c.Err() != nil {
		n.add(s.errorf(0, c.Err(), "no exception record"))
		return nil
	}
	e := &target.Exception{ThreadID: le.Uint32(b), Code: le.Uint32(b[8:]), Flags: le.Uint32(b[12:])}
	e.Record = f.addr(le.Uint64(b[16:]))
	e.Address, e.HasAddress = f.addr(le.Uint64(b[24:])), true
	e.Words = fmt.Sprintf("0x%08x", e.Code)
	count := le.Uint32(b[32:])
	if count > exceptionMaxParameters {
		n.add(s.errorf(32, nil, "%d exception parameters, there can be %d", count, exceptionMaxParameters))
		count = exceptionMaxParameters
	}
	e.Parameters = make([]uint64, count)
	for i := range e.Parameters {
		e.Parameters[i] = le.Uint64(b[40+8*i:])
	}
	f.interpret(e)
	isIt := func(t target.Thread) bool { return t.ID == e.ThreadID }
	if threads := f.Threads(); len(threads) > 0 && !slices.ContainsFunc(threads, isIt) {
		n.add(s.errorf(0, nil, "the exception's thread %#x is not in the thread list", e.ThreadID))
	}
	e.Registers.Arch = f.platform.Arch
	if loc := locationAt(b[160:]); loc.size != 0 && readsContexts(f.platform.Arch) {
		var err error
		if e.Registers, err = f.registers(s.name, loc); err != nil {
			n.add(err)
		}
	}
	return e
}
