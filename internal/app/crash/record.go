package crash

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// A Record is the crash record of a NativeAOT process: JSON in a buffer to which its fail-fast exception refers
// (nativeaot, CrashInfo.cs; version 1).
type Record struct {
	Version        string
	RuntimeBase    target.Addr
	RuntimeType    int // 4 for NativeAOT
	RuntimeVersion string
	Reason         int // 1: unhandled exception, 2: Environment.FailFast, 3: the runtime's own fail-fast
	Thread         uint32
	Message        string
	HResult        uint32
	Exception      *RecordedException
}

// A RecordedException is an exception of a Record.
type RecordedException struct {
	Address target.Addr
	HResult uint32
	Type    string
	Message string
	Stack   []RecordedFrame
	Inner   []*RecordedException
}

// A RecordedFrame is a frame of a RecordedException.
type RecordedFrame struct {
	IP     target.Addr
	Module target.Addr // base address
	Offset uint64      // offset of IP in the method
	Name   string      // empty if unknown
}

// A NativeAOT fail-fast is an EXCEPTION_RECORD64 (winnt.h) with STATUS_STACK_BUFFER_OVERRUN. Its parameters are the
// marker, the HRESULT, and the address and size of the JSON.
const (
	failFastDotNet = 0x48 // FAST_FAIL_EXCEPTION_DOTNET_AOT
	failFastParams = 4
)

func readRecord(t target.Target, mem target.Memory) (*Record, error) {
	code, params, err := failFast(t, mem)
	if err != nil || code != codeStackBuffer || len(params) < failFastParams || params[0] != failFastDotNet {
		return nil, err
	}
	if params[3] > limits.CrashRecord {
		return nil, target.Corruptf("%d bytes of JSON", params[3])
	}
	at, size := target.Addr(params[2]), int(params[3])
	raw, err := target.Bytes(mem, at, size)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(raw)
	if err != nil {
		return nil, err
	}
	r.HResult = uint32(params[1])
	return r, nil
}

// failFast returns the code and parameters of the process's exception record: the dump's record, or one in memory that
// the dump refers to.
func failFast(t target.Target, mem target.Memory) (uint32, []uint64, error) {
	at := t.Process().ExceptionRecord
	if at == 0 {
		x, _ := t.Exception()
		return x.Code, x.Parameters, nil
	}
	x, err := readExceptionRecord(mem, at)
	if err != nil {
		return 0, nil, err
	}
	return x.Code, x.Parameters, nil
}

// recordJSON is the record as written. All numbers are text.
type recordJSON struct {
	Version        string         `json:"version"`
	RuntimeBase    hexText        `json:"runtime_base"`
	RuntimeType    hexText        `json:"runtime_type"`
	RuntimeVersion string         `json:"runtime_version"`
	Reason         hexText        `json:"reason"`
	Thread         hexText        `json:"thread"`
	Message        string         `json:"message"`
	Exception      *exceptionJSON `json:"exception"`
}

type exceptionJSON struct {
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
	Inner []*exceptionJSON `json:"inner"`
}

// hexText is a number as text, 0x… or decimal.
type hexText uint64

func (h *hexText) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = hexText(v)
	return err
}

// maxWord bounds the numbers that stand for words.
const maxWord = 1 << 16

func parseRecord(raw []byte) (*Record, error) {
	var j recordJSON
	if !utf8.Valid(raw) {
		return nil, target.Corruptf("the JSON is not UTF-8")
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, target.Corruptf("the JSON: %w", err)
	}
	if j.Thread > math.MaxUint32 || j.RuntimeType > maxWord || j.Reason > maxWord {
		return nil, target.Corruptf("the JSON has the thread %#x, the runtime type %d and the reason %d", uint64(j.Thread), uint64(j.RuntimeType), uint64(j.Reason))
	}
	r := &Record{
		Version: j.Version, RuntimeBase: target.Addr(j.RuntimeBase), RuntimeType: int(j.RuntimeType), RuntimeVersion: j.RuntimeVersion,
		Reason: int(j.Reason), Thread: uint32(j.Thread), Message: j.Message,
	}
	r.Exception = j.Exception.exception()
	return r, nil
}

func (j *exceptionJSON) exception() *RecordedException {
	if j == nil {
		return nil
	}
	x := &RecordedException{Address: target.Addr(j.Address), HResult: uint32(j.HResult), Type: j.Type, Message: j.Message}
	for _, f := range j.Stack {
		x.Stack = append(x.Stack, RecordedFrame{target.Addr(f.IP), target.Addr(f.Module), uint64(f.Offset), f.Name})
	}
	for _, i := range j.Inner {
		if i != nil {
			x.Inner = append(x.Inner, i.exception())
		}
	}
	return x
}

// locate corrects the addresses of an exception and its inner ones. Some runtimes write the address of a variable that
// refers to the exception (CrashInfo.cs of .NET 8). The type in the record distinguishes the two.
func (x *RecordedException) locate(rt *dac.Runtime, mem target.Memory) {
	if x == nil {
		return
	}
	if _, err := rt.ObjectTypeName(x.Address); err != nil {
		if a, err := target.Pointer(mem, x.Address); err == nil {
			if name, err := rt.ObjectTypeName(a); err == nil && name == x.Type {
				x.Address = a
			}
		}
	}
	for _, inner := range x.Inner {
		inner.locate(rt, mem)
	}
}

// recordVerdict returns the verdict from the crash record that a thread of a NativeAOT process wrote.
func recordVerdict(r *Record, thread answer.Statement) answer.Verdict {
	return answer.Conclude(answer.NoFinding, words.OwnRecord.Of(words.Text(word(recordReasons, r.Reason)), words.Text(r.Message)), answer.StrengthRecorded,
		words.RecordItWrote.Of(thread))
}

// describeRecord describes the crash record of a NativeAOT process. modules supplies the module names of its frames.
func describeRecord(r *Record, modules []target.Module) *answer.Crash {
	record := &answer.CrashRecord{Reason: word(recordReasons, r.Reason), Thread: r.Thread, HResult: r.HResult,
		RuntimeType: word(recordTypes, r.RuntimeType), RuntimeBase: r.RuntimeBase, RuntimeVersion: r.RuntimeVersion, Message: r.Message}
	out := &answer.Crash{Reason: record.Reason, Why: words.OwnReason.Of(words.Text(record.Reason)), Code: fmt.Sprintf("%#x", r.HResult),
		ThreadID: r.Thread, Likely: r.Message, Cause: words.OwnMessage.Of(words.Text(r.Message)), Record: record, Address: noAddress,
		Verdicts: []answer.Verdict{recordVerdict(r, words.ThreadID(r.Thread))}}
	if r.Exception != nil {
		x := describeRecorded(r.Exception, modules)
		record.Exception = &x
		out.Exceptions = flatten(nil, &x)
		if chain := recordedFaults(&x); r.Reason == recordUnhandled {
			says := notCaught(chain, false)
			out.Verdicts = append(out.Verdicts, answer.Conclude(answer.NoFinding, says, answer.StrengthProved, words.RecordNames.Of()))
			out.Likely, out.Cause, out.Usual, out.Blames = LikelyCause(chain).Text, says, chain[len(chain)-1].usual(), len(out.Verdicts)
		}
	}
	return out
}

// recordUnhandled is the reason of a crash record for an exception that nothing caught.
const recordUnhandled = 1

// recordedFaults returns an exception and its first inner ones, up to the last that was thrown.
func recordedFaults(x *answer.RecordedException) []Fault {
	var out []Fault
	for n := 0; ; x = &x.Inners[0] {
		f := Fault{Type: x.Type.S, Message: x.Message.S}
		for _, frame := range x.Frames {
			f.Trace = append(f.Trace, Place{Function: frame.Function.S})
		}
		out = append(out, f)
		if len(x.Frames) > 0 {
			n = len(out)
		}
		if len(x.Inners) == 0 {
			return out[:max(n, 1)]
		}
	}
}

func describeRecorded(r *RecordedException, modules []target.Module) answer.RecordedException {
	x := answer.RecordedException{Exception: answer.Exception{Address: r.Address, Type: answer.Text{S: r.Type},
		Message: &answer.Text{S: r.Message}, HResult: answer.Hex(r.HResult)}}
	for i := range r.Stack {
		f := &r.Stack[i]
		x.Frames = append(x.Frames, answer.TraceFrame{IP: f.IP, Function: answer.Text{S: f.function(modules)}, Offset: &f.Offset})
	}
	for _, inner := range r.Inner {
		x.Inners = append(x.Inners, describeRecorded(inner, modules))
	}
	return x
}

// flatten appends an exception and its inner ones, outermost first.
func flatten(list []answer.Exception, x *answer.RecordedException) []answer.Exception {
	list = append(list, x.Exception)
	for i := range x.Inners {
		list = flatten(list, &x.Inners[i])
	}
	return list
}

// function returns the frame's name as Module.so!Name.
func (f *RecordedFrame) function(modules []target.Module) string {
	name := f.Name
	if name == "" {
		name = "<unknown>"
	}
	for i := range modules {
		if modules[i].Base == f.Module {
			return target.BaseName(modules[i].Path) + "!" + name
		}
	}
	return name
}

// Words for the numbers in a Record (nativeaot, CrashInfo.cs and the runtime's enum RuntimeType).
var (
	recordReasons = []string{"Unknown", "UnhandledException", "EnvironmentFailFast", "InternalFailFast"}
	recordTypes   = []string{"Unknown", "Desktop", "NetCore", "SingleFile", "NativeAOT", "Other"}
)

func word(words []string, n int) string {
	if n < 0 || n >= len(words) {
		return fmt.Sprint(n)
	}
	return words[n]
}
