package crashreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A number is a JSON string, hexadecimal with 0x or decimal. bad holds the text of an invalid one.
type number struct {
	value uint64
	known bool
	bad   string
}

// UnmarshalJSON decodes a number. It never fails.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number{}
	text := strings.Trim(string(b), `"`)
	if text == "null" {
		return nil
	}
	v, err := strconv.ParseInt(text, 10, 64)
	n.value = uint64(v)
	if digits, hex := strings.CutPrefix(text, "0x"); hex {
		n.value, err = strconv.ParseUint(digits, 16, 64)
	}
	if n.known = err == nil; !n.known {
		const shown = 40
		n.value, n.bad = 0, text[:min(len(text), shown)]
	}
	return nil
}

// A truth is a boolean, which is a JSON string.
type truth bool

// UnmarshalJSON decodes a boolean. It never fails.
func (t *truth) UnmarshalJSON(b []byte) error {
	*t = strings.Trim(string(b), `"`) == "true"
	return nil
}

// A listedFrame is a frame in the file.
type listedFrame struct {
	Managed    truth  `json:"is_managed"`
	Base       number `json:"module_address"`
	SP         number `json:"stack_pointer"`
	IP         number `json:"native_address"`
	Offset     number `json:"native_offset"`
	Stamp      number `json:"timestamp"`
	Size       number `json:"sizeofimage"`
	Method     string `json:"method_name"`
	Symbol     string `json:"unmanaged_name"`
	File       string `json:"filename"`
	NativeFile string `json:"native_module"`
}

// A stackEntry is an entry of stack_frames: a frame, or frames of a stack overflow that repeat.
type stackEntry struct {
	listedFrame
	Repeated number        `json:"repeated"`
	Circle   []listedFrame `json:"repeated_frames"`
}

// A reader reads a report from front to back, so that it gets everything before the damage of a cut
// report.
type reader struct {
	json    *json.Decoder
	limits  target.Limits
	out     *Report
	modules map[target.Addr]*target.Module
	names   map[string]bool // modules without an address
	frames  int

	signal       number
	class        string // ExceptionType
	manufacturer string
}

func newReader(src target.Source, l target.Limits) *reader {
	return &reader{json: json.NewDecoder(io.NewSectionReader(src, 0, src.Size())), limits: l, out: &Report{},
		modules: map[target.Addr]*target.Module{}, names: map[string]bool{}}
}

// damageError adds the position to err.
func (r *reader) damageError(err error) error {
	if errors.Is(err, target.ErrCorrupt) {
		return err
	}
	at := r.json.InputOffset()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return target.Corruptf("the crash report is cut at byte %d: what stood behind is missing", at)
	}
	return target.Corruptf("crash report: byte %d: %v: what stands behind is not read", at, err)
}

// begin reads the delimiter at the start of an object or array.
func (r *reader) begin(mark json.Delim, name string) error {
	t, err := r.json.Token()
	if err != nil {
		return r.damageError(err)
	}
	if t != mark {
		return r.damageError(fmt.Errorf("%s begins with %.20q, not with %v", name, fmt.Sprint(t), mark))
	}
	return nil
}

// end reads the delimiter at the end of an object or array.
func (r *reader) end() error {
	_, err := r.json.Token()
	if err != nil {
		return r.damageError(err)
	}
	return nil
}

// object reads an object. fields maps keys to functions that read their values; values of other
// keys are skipped.
func (r *reader) object(name string, fields map[string]func() error) error {
	if err := r.begin('{', name); err != nil {
		return err
	}
	for r.json.More() {
		t, err := r.json.Token()
		if err != nil {
			return r.damageError(err)
		}
		key, _ := t.(string)
		read := fields[key]
		if read == nil {
			var skipped json.RawMessage
			read = func() error { return r.value(&skipped) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return r.end()
}

// array reads an array. item reads each value.
func (r *reader) array(name string, item func() error) error {
	if err := r.begin('[', name); err != nil {
		return err
	}
	for r.json.More() {
		if err := item(); err != nil {
			return err
		}
	}
	return r.end()
}

// value decodes a value. A value of the wrong type is a warning.
func (r *reader) value(v any) error {
	err := r.json.Decode(v)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		r.out.warn(target.Corruptf("crash report: before byte %d: %s is a %s", r.json.InputOffset(), kind.Field, kind.Value))
		return nil
	}
	if err != nil {
		return r.damageError(err)
	}
	return nil
}

func (r *reader) to(v any) func() error { return func() error { return r.value(v) } }

// checkNumber returns the value of n, or nil if it is absent. An invalid value, or one above most,
// is absent and a warning.
func (r *reader) checkNumber(n *number, name string, most uint64) *uint64 {
	if n.bad == "" && n.value <= most {
		if !n.known {
			return nil
		}
		v := n.value // a copy, so that the pointer does not keep the whole frame
		return &v
	}
	text := n.bad
	if text == "" {
		text = fmt.Sprintf("%#x", n.value)
	}
	r.out.warn(target.Corruptf("crash report: before byte %d: %s is %q", r.json.InputOffset(), name, text))
	return nil
}

// checkOrZero is checkNumber with 0 for an absent value.
func (r *reader) checkOrZero(n *number, name string, most uint64) uint64 {
	if v := r.checkNumber(n, name, most); v != nil {
		return *v
	}
	return 0
}

// read reads the report.
func (r *reader) read() error {
	var protocol, arch, version, osVersion, model string
	var pid number
	defer func() {
		p, x := &r.out.process, &r.out.platform
		p.ID = uint32(r.checkOrZero(&pid, "pid", math.MaxUint32))
		x.Arch, x.OSVersion = architectures[arch], osVersion
		for _, a := range []target.Annotation{{Key: "runtime", Value: strings.TrimSpace(version)}, {Key: "protocol", Value: protocol},
			{Key: "model", Value: model}} {
			if a.Value != "" {
				p.Annotations = append(p.Annotations, a)
			}
		}
		r.registers()
	}()
	return r.object("the report", map[string]func() error{
		"payload": func() error {
			return r.object("payload", map[string]func() error{
				"protocol_version": r.to(&protocol),
				"configuration": func() error {
					return r.object("configuration", map[string]func() error{"architecture": r.to(&arch), "version": r.to(&version)})
				},
				"process_name": r.to(&r.out.process.Command),
				"pid":          r.to(&pid),
				"threads":      func() error { return r.array("threads", r.thread) },
			})
		},
		"parameters": func() error {
			return r.object("parameters", map[string]func() error{"ExceptionType": r.to(&r.class), "signal": r.to(&r.signal),
				"OSVersion": r.to(&osVersion), "SystemModel": r.to(&model), "SystemManufacturer": r.to(&r.manufacturer)})
		},
	})
}

// architectures are the names of processors.
var architectures = map[string]target.Arch{"amd64": target.ArchAMD64, "arm64": target.ArchARM64, "arm": target.ArchARM}

// A position holds the registers of a thread.
type position struct {
	IP number `json:"IP"`
	SP number `json:"SP"`
	FP number `json:"BP"`
}

// thread reads a thread. If the thread is cut, it has the frames before the cut.
func (r *reader) thread() error {
	if int64(len(r.out.threads)) >= r.limits.Threads {
		return target.Limitf("the crash report has more than %d threads: the others are not read (limit threads)", r.limits.Threads)
	}
	var id, object, hresult number
	var managed, crashed truth
	var at position
	t := thread{}
	err := r.object("a thread", map[string]func() error{
		"is_managed": r.to(&managed), "crashed": r.to(&crashed), "native_thread_id": r.to(&id), "ctx": r.to(&at),
		"managed_exception_object": r.to(&object), "managed_exception_type": r.to(&t.exception.typ), "managed_exception_hresult": r.to(&hresult),
		"stack_frames": func() error {
			return r.array("stack_frames", func() error { return r.entry(&t) })
		},
	})
	if !id.known && err != nil {
		return err
	}
	t.ID = uint32(r.checkOrZero(&id, "native_thread_id", math.MaxUint32))
	t.exception.object = target.Addr(r.checkOrZero(&object, "managed_exception_object", math.MaxUint64))
	t.exception.hresult = uint32(r.checkOrZero(&hresult, "managed_exception_hresult", math.MaxUint32))
	t.at, t.managed = at, bool(managed)
	r.out.threads = append(r.out.threads, t)
	if bool(crashed) && r.out.crash == nil {
		r.out.crash = &target.Exception{ThreadID: t.ID}
	}
	return err
}

// entry reads an entry of a stack.
func (r *reader) entry(t *thread) error {
	var e stackEntry
	if err := r.value(&e); err != nil {
		return err
	}
	list := e.Circle
	if list == nil {
		list = []listedFrame{e.listedFrame}
	}
	if r.frames += len(list); r.frames > limits.CrashReportFrames {
		return target.Limitf("the crash report has more than %d frames: the others are not read", limits.CrashReportFrames)
	}
	for i := range list {
		f := r.frame(&list[i])
		if n := r.checkOrZero(&e.Repeated, "repeated", math.MaxInt32); i == 0 && n > 1 && e.Circle != nil {
			f.cycle, f.repeat = len(list), int(n)
		}
		t.frames = append(t.frames, f)
	}
	return nil
}

// frame converts a frame and adds its module.
func (r *reader) frame(l *listedFrame) frame {
	f := frame{managed: bool(l.Managed), method: l.Method, symbol: l.Symbol, module: l.NativeFile,
		sp: r.checkNumber(&l.SP, "stack_pointer", math.MaxUint64), ip: r.checkNumber(&l.IP, "native_address", math.MaxUint64),
		offset: r.checkNumber(&l.Offset, "native_offset", math.MaxUint64), base: target.Addr(r.checkOrZero(&l.Base, "module_address", math.MaxUint64))}
	if f.managed {
		f.module = l.File
	}
	addModule(r.modules, &f, r.checkOrZero(&l.Stamp, "timestamp", math.MaxUint32), r.checkOrZero(&l.Size, "sizeofimage", math.MaxUint32))
	if f.base == 0 && f.module != "" && len(r.names) < limits.Modules {
		r.names[f.module] = true
	}
	return f
}

// registers sets the registers of all threads, once the processor is known.
func (r *reader) registers() {
	for i := range r.out.threads {
		t := &r.out.threads[i]
		t.Registers.Arch = r.out.platform.Arch
		ip, sp, fp := r.checkNumber(&t.at.IP, "IP", math.MaxUint64), r.checkNumber(&t.at.SP, "SP", math.MaxUint64), r.checkNumber(&t.at.FP, "BP", math.MaxUint64)
		if ip != nil {
			t.Registers.SetIP(target.Addr(*ip))
		}
		if sp != nil {
			t.Registers.SetSP(target.Addr(*sp))
		}
		if fp != nil {
			t.Registers.SetFP(target.Addr(*fp))
		}
	}
}

// classes are the kinds of crashes in reports of macOS (crashreportwriter.cpp).
var classes = map[string]string{"0x05000000": "managed exception", "0x50000000": "SIGILL", "0x70000000": "SIGFPE", "0x60000000": "SIGBUS",
	"0x03000000": "SIGTRAP", "0x20000000": "SIGSEGV", "0x02000000": "SIGTERM", "0x30000000": "SIGABRT"}

// crashed replaces a missing signal: createdump writes none on Linux.
const crashed = "signal not in the report"

// busOfDarwin is the number of SIGBUS on macOS, which Linux uses for another signal (sys/signal.h).
const busOfDarwin = 10

// finish computes what needs the whole report. Reports are written on macOS, which they name, and
// on Linux; for a cut report the system is unknown.
func (r *reader) finish(whole bool) {
	out := r.out
	out.modules, out.placeless = sortModules(r.modules), len(r.names)
	switch {
	case r.manufacturer == "apple":
		out.platform.OS = target.OSDarwin
	case whole:
		out.platform.OS = target.OSLinux
	}
	n := r.checkOrZero(&r.signal, "signal", math.MaxInt16)
	if out.crash == nil && n == 0 {
		return
	}
	if out.crash == nil {
		out.crash = &target.Exception{}
	}
	x := out.crash
	signal := target.Signal{Number: int32(n)}
	switch word := classes[r.class]; {
	case n == busOfDarwin && out.platform.OS == target.OSDarwin:
		x.Code, x.Words = uint32(n), "SIGBUS"
	case n != 0:
		x.Code, x.Words = uint32(n), signal.Name()
	case word != "":
		x.Words = word
	default:
		x.Words = crashed
	}
}
