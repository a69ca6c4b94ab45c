package sosgo

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/sosgo/sosgo/elfcore"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

// A Crash says why the process died, as far as the dump tells. A dump that was
// taken of a running process has none.
type Crash struct {
	Exception *target.Exception // the signal or exception record, nil if there is none
	Thread    *threads.Thread   // that died, nil if it is not known
	Thrown    target.Addr       // the managed exception that thread was handling or threw last, 0 for none
	Record    *CrashRecord      // what a NativeAOT process wrote about itself, nil for others
}

// A CrashRecord is what a NativeAOT process writes about its crash: JSON in a
// buffer that the record of its fail-fast exception names (nativeaot,
// CrashInfo.cs; version 1).
type CrashRecord struct {
	Version        string
	RuntimeBase    target.Addr
	RuntimeType    int // 4: NativeAOT
	RuntimeVersion string
	Reason         int // 1: unhandled exception, 2: Environment.FailFast, 3: the runtime's own fail-fast
	Thread         uint32
	Message        string
	HResult        uint32
	Exception      *CrashException
}

// A CrashException is an exception of a CrashRecord.
type CrashException struct {
	Address target.Addr
	HResult uint32
	Type    string
	Message string
	Stack   []CrashFrame
	Inner   []*CrashException
}

// A CrashFrame is a frame of a CrashException.
type CrashFrame struct {
	IP     target.Addr
	Module target.Addr // base
	Offset uint64      // of IP in the method
	Name   string      // empty if the record has none
}

// CrashThread is the thread that the dump was written for, where it says so:
// the one that raised the exception or took the signal.
func (d *Dump) CrashThread() (id uint32, ok bool) {
	e, ok := d.file.Exception()
	return e.ThreadID, ok && e.ThreadID != 0
}

// Crash returns why the process died, nil if the dump says nothing of a crash.
// The error tells what could not be read of it.
func (v *View) Crash() (*Crash, error) {
	var c Crash
	if x, ok := v.dump.file.Exception(); ok {
		c.Exception = &x
	}
	var err error
	if c.Record, err = v.dump.crashRecord(); err != nil {
		err = fmt.Errorf("crash record: %w", err)
	}
	id, ok := v.dump.CrashThread()
	if c.Exception == nil && c.Record == nil && !ok {
		return nil, err
	}
	if !ok || c.Record != nil {
		return &c, err // a NativeAOT process has no managed threads to look at
	}
	list, terr := v.Threads()
	if err == nil {
		err = terr
	}
	c.Thread = threads.ByID(list, id)
	if c.Thread != nil && c.Thread.Managed != nil {
		thrown, xerr := v.thrownBy(c.Thread)
		if c.Thrown = thrown; err == nil {
			err = xerr
		}
	}
	return &c, err
}

// thrownBy is the exception that a thread is handling, else the last that it
// threw.
func (v *View) thrownBy(t *Thread) (target.Addr, error) {
	rt, err := v.Runtime()
	if err != nil {
		return 0, err
	}
	if a, err := rt.CurrentException(t.Managed); err == nil && a != 0 {
		return a, nil
	}
	return t.Managed.LastThrown, t.Managed.LastThrownError
}

// The record of a NativeAOT fail-fast: an EXCEPTION_RECORD64 (winnt.h) with
// STATUS_STACK_BUFFER_OVERRUN, whose first parameter says that the others are
// the HRESULT, and address and size of the JSON.
const (
	failFastCode    = 0xc0000409
	failFastDotNet  = 0x48 // FAST_FAIL_EXCEPTION_DOTNET_AOT
	failFastParams  = 4
	recordSize      = 0x20 + 15*8
	recordNumParams = 0x18
	recordParams    = 0x20
)

func (d *Dump) crashRecord() (*CrashRecord, error) {
	code, params, err := d.failFast()
	if err != nil || code != failFastCode || len(params) < failFastParams || params[0] != failFastDotNet {
		return nil, err
	}
	if params[3] > limits.CrashRecord {
		return nil, target.Corruptf("%d bytes of JSON", params[3])
	}
	at, size := target.Addr(params[2]), int(params[3])
	raw, err := target.Bytes(d.mem, at, size)
	if err != nil {
		return nil, err
	}
	r, err := parseCrashRecord(raw)
	if err != nil {
		return nil, err
	}
	r.HResult = uint32(params[1])
	return r, nil
}

// failFast returns code and parameters of the process's exception record: of
// the minidump's stream, or of the record that createdump of an ELF core found.
func (d *Dump) failFast() (uint32, []uint64, error) {
	core, ok := d.file.Target.(*elfcore.File)
	if !ok {
		x, _ := d.file.Exception()
		return x.Code, x.Parameters, nil
	}
	info, ok := core.DiagInfo()
	if !ok || info.ExceptionRecord == 0 {
		return 0, nil, nil
	}
	b, err := target.Bytes(d.mem, info.ExceptionRecord, recordSize)
	if err != nil {
		return 0, nil, err
	}
	n := min(binary.LittleEndian.Uint32(b[recordNumParams:]), 15)
	params := make([]uint64, n)
	for i := range params {
		params[i] = binary.LittleEndian.Uint64(b[recordParams+8*i:])
	}
	return binary.LittleEndian.Uint32(b), params, nil
}

// crashJSON is the record as it is written: all numbers are text.
type crashJSON struct {
	Version        string              `json:"version"`
	RuntimeBase    hexText             `json:"runtime_base"`
	RuntimeType    hexText             `json:"runtime_type"`
	RuntimeVersion string              `json:"runtime_version"`
	Reason         hexText             `json:"reason"`
	Thread         hexText             `json:"thread"`
	Message        string              `json:"message"`
	Exception      *crashExceptionJSON `json:"exception"`
}

type crashExceptionJSON struct {
	Address hexText `json:"address"`
	HResult hexText `json:"hr"`
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Stack   []struct {
		IP     hexText `json:"ip"`
		Module hexText `json:"module"`
		Offset hexText `json:"offset"`
		Name   string  `json:"name"`
	} `json:"stack"`
	Inner []*crashExceptionJSON `json:"inner"`
}

// hexText is a number as text: 0x… or decimal.
type hexText uint64

func (h *hexText) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = hexText(v)
	return err
}

func parseCrashRecord(raw []byte) (*CrashRecord, error) {
	var j crashJSON
	if !utf8.Valid(raw) {
		return nil, target.Corruptf("the JSON is not UTF-8")
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, target.Corruptf("the JSON: %w", err)
	}
	r := &CrashRecord{
		Version: j.Version, RuntimeBase: target.Addr(j.RuntimeBase), RuntimeType: int(j.RuntimeType), RuntimeVersion: j.RuntimeVersion,
		Reason: int(j.Reason), Thread: uint32(j.Thread), Message: j.Message,
	}
	r.Exception = j.Exception.exception()
	return r, nil
}

func (j *crashExceptionJSON) exception() *CrashException {
	if j == nil {
		return nil
	}
	x := &CrashException{Address: target.Addr(j.Address), HResult: uint32(j.HResult), Type: j.Type, Message: j.Message}
	for _, f := range j.Stack {
		x.Stack = append(x.Stack, CrashFrame{target.Addr(f.IP), target.Addr(f.Module), uint64(f.Offset), f.Name})
	}
	for _, i := range j.Inner {
		if i != nil {
			x.Inner = append(x.Inner, i.exception())
		}
	}
	return x
}
