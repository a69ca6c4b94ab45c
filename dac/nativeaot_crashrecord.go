package dac

import (
	"bytes"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// CrashRecord returns the JSON that a NativeAOT program wrote about its crash. It returns target.ErrUnsupported
// for a program that did not crash.
func (i *Instance) CrashRecord() ([]byte, error) {
	if i.aotHeader == 0 {
		return nil, target.Unsupportedf("only NativeAOT programs have a record of a crash")
	}
	globals, err := target.Pointer(i.mem, i.aotHeader+debugVariables)
	if err != nil {
		return nil, fmt.Errorf("debug header: %w", err)
	}
	names, err := i.debugGlobals(globals)
	if err != nil {
		return nil, err
	}
	for n, name := range names {
		if name != "g_CrashInfoBuffer" {
			continue
		}
		at, err := target.Pointer(i.mem, globals+target.Addr(debugGlobalSize*n+debugGlobalValue))
		if err != nil {
			return nil, fmt.Errorf("debug header: %w", err)
		}
		return i.record(at)
	}
	return nil, target.Unsupportedf("the debug header lacks the address of the crash record")
}

// record reads JSON up to the terminating zero.
func (i *Instance) record(at target.Addr) ([]byte, error) {
	var out []byte
	for len(out) < limits.CrashRecord {
		b := i.mem.Span(at + target.Addr(len(out)))
		if len(b) == 0 {
			_, err := target.Uint8(i.mem, at+target.Addr(len(out)))
			return nil, fmt.Errorf("record of a crash: %w", err)
		}
		b = b[:min(len(b), limits.CrashRecord-len(out))]
		if end := bytes.IndexByte(b, 0); end >= 0 {
			if out = append(out, b[:end]...); len(out) == 0 {
				return nil, target.Unsupportedf("the program has written no record of a crash")
			}
			return out, nil
		}
		out = append(out, b...)
	}
	return nil, target.Corruptf("a record of more than %d bytes", limits.CrashRecord)
}
