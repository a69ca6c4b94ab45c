package dac

import (
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
	text, err := target.CString(i.mem, at, limits.CrashRecord)
	switch {
	case err != nil:
		return nil, fmt.Errorf("record of a crash: %w", err)
	case text == "":
		return nil, target.Unsupportedf("the program has written no record of a crash")
	}
	return []byte(text), nil
}
