package minidump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/target"
)

// systemInfoSize is the size of MINIDUMP_SYSTEM_INFO without the processor's features.
const systemInfoSize = 32

// loadPlatform reads MINIDUMP_SYSTEM_INFO.
func (f *File) loadPlatform(n *notes) target.Platform {
	s, ok := f.section(SystemInfoStream, n)
	if !ok {
		n.add(fmt.Errorf("minidump: system information, without which the architecture is unknown: %w", target.ErrNotInDump))
		return target.Platform{}
	}
	c := s.cursor()
	b := c.Take(systemInfoSize)
	if c.Err() != nil {
		n.add(s.errorf(0, c.Err(), "the architecture is unknown"))
		return target.Platform{}
	}
	p := target.Platform{
		OS:   platformOS(le.Uint32(b[20:])),
		Arch: processorArch(le.Uint16(b)),
		CPUs: int(b[6]),
	}
	// Breakpad writes no version number of Linux: the whole text is in the service pack.
	if !isZero(b[8:20]) {
		p.OSVersion = fmt.Sprintf("%d.%d.%d", le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:]))
	}
	pack, err := f.names(s.name).string(le.Uint32(b[24:]))
	if err != nil {
		n.add(fmt.Errorf("service pack: %w", err))
	}
	p.OSVersion = strings.TrimSpace(p.OSVersion + " " + pack)
	p.Distribution = f.distribution(n)
	count, model := f.processors(n)
	if p.CPU = model; p.CPUs == 0 {
		p.CPUs = count
	}
	return p
}

// processorArch converts PROCESSOR_ARCHITECTURE_xxx of winnt.h, and the values of Breakpad and
// Crashpad (minidump_format.h, minidump_extensions.h).
func processorArch(v uint16) target.Arch {
	switch v {
	case 0, 10: // 10 is x86 on 64-bit Windows
		return target.Arch386
	case 1:
		return target.ArchMIPS
	case 3:
		return target.ArchPPC
	case 5:
		return target.ArchARM
	case 6:
		return target.ArchIA64
	case 9:
		return target.ArchAMD64
	case 12, 0x8003:
		return target.ArchARM64
	case 0x8001:
		return target.ArchSPARC
	case 0x8002:
		return target.ArchPPC64
	case 0x8004:
		return target.ArchMIPS64
	case 0x8005:
		return target.ArchLoongArch64
	case 0x8006:
		return target.ArchRISCV64
	}
	return target.ArchUnknown
}

// platformOS converts VER_PLATFORM_xxx of winnt.h, and the values of Breakpad and Crashpad
// (minidump_format.h).
func platformOS(v uint32) target.OS {
	switch v {
	case 0, 1, 2, 3:
		return target.OSWindows
	case 0x8101, 0x8102:
		return target.OSDarwin
	case platformLinux, platformAndroid:
		return target.OSLinux
	case 0x8202:
		return target.OSSolaris
	case 0x8206:
		return target.OSFuchsia
	}
	return target.OSUnknown
}

const (
	platformLinux   = 0x8201
	platformAndroid = 0x8203
)

// Container describes the kind of minidump: "Windows minidump", "minidump of a Linux process
// (Breakpad)".
func (f *File) Container() string {
	what := "minidump of an unknown system's process"
	switch f.platform.OS {
	case target.OSWindows:
		return "Windows minidump"
	case target.OSLinux:
		what = "minidump of a Linux process"
	case target.OSDarwin:
		what = "minidump of a macOS process"
	case target.OSSolaris:
		what = "minidump of a Solaris process"
	case target.OSFuchsia:
		what = "minidump of a Fuchsia process"
	}
	if _, ok := f.stream(CrashpadInfoStream); ok {
		return what + " (Crashpad)"
	}
	for _, s := range f.streams {
		if s.Type >= BreakpadInfoStream && s.Type <= LinuxDSODebugStream {
			return what + " (Breakpad)"
		}
	}
	return what
}

// Platform implements target.Target.
func (f *File) Platform() target.Platform { return f.platform }

// The versions of MINIDUMP_MISC_INFO differ in size. These are the ends of their fields.
const (
	miscInfo1 = 24
	miscInfo2 = 44
	miscInfo3 = 232
	miscInfo4 = 832
	miscInfo5 = 1364
)

// The bits of MINIDUMP_MISC_INFO.Flags1 for fields that are recorded.
const (
	miscProcessID    = 0x01
	miscProcessTimes = 0x02
	miscPower        = 0x04
	miscIntegrity    = 0x10
	miscTimeZone     = 0x40
	miscBuild        = 0x100
	miscCookie       = 0x200
)

// A MiscInfo is the MiscInfo stream (MINIDUMP_MISC_INFO to _INFO_5). A zero field is not recorded.
type MiscInfo struct {
	ProcessID      uint32
	HasTimes       bool // Created, User and Kernel are recorded
	Created        time.Time
	User, Kernel   time.Duration
	MaxMHz         uint32 // of the processor
	CurrentMHz     uint32
	IntegrityLevel uint32        // of the process, SECURITY_MANDATORY_xxx_RID
	TimeZone       string        // name of the standard time
	UTCOffset      time.Duration // of the standard time, east of Greenwich
	Build          string        // of the system, as text
	DebuggerBuild  string        // of the dump's writer
	ProcessCookie  uint32
}

// MiscInfo returns the content of the MiscInfo stream.
func (f *File) MiscInfo() MiscInfo { return f.misc.get(f.loadMisc) }

func (f *File) loadMisc(n *notes) MiscInfo {
	s, ok := f.section(MiscInfoStream, n)
	if !ok {
		return MiscInfo{}
	}
	if len(s.b) < miscInfo1 {
		n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
		return MiscInfo{}
	}
	b := s.b
	if size := le.Uint32(b); size < miscInfo1 || uint64(size) > uint64(len(b)) {
		n.add(s.errorf(0, nil, "structure of %d bytes in a stream of %d", size, len(b)))
	} else {
		b = b[:size]
	}
	flags := le.Uint32(b[4:])
	has := func(bit uint32, end int) bool { return flags&bit != 0 && len(b) >= end }
	var m MiscInfo
	if has(miscProcessID, miscInfo1) {
		m.ProcessID = le.Uint32(b[8:])
	}
	if has(miscProcessTimes, miscInfo1) {
		m.HasTimes = true
		m.Created = unixTime(le.Uint32(b[12:]))
		m.User = time.Duration(le.Uint32(b[16:])) * time.Second
		m.Kernel = time.Duration(le.Uint32(b[20:])) * time.Second
	}
	if has(miscPower, miscInfo2) {
		m.MaxMHz, m.CurrentMHz = le.Uint32(b[24:]), le.Uint32(b[28:])
	}
	if has(miscIntegrity, miscInfo3) {
		m.IntegrityLevel = le.Uint32(b[44:])
	}
	if has(miscTimeZone, miscInfo3) {
		m.UTCOffset = -time.Duration(int32(le.Uint32(b[60:]))) * time.Minute
		m.TimeZone = decodeUTF16(b[64:128])
	}
	if has(miscBuild, miscInfo4) {
		m.Build, m.DebuggerBuild = decodeUTF16(b[232:752]), decodeUTF16(b[752:miscInfo4])
	}
	if has(miscCookie, miscInfo5) {
		m.ProcessCookie = le.Uint32(b[1360:])
	}
	return m
}

// unixTime converts an unsigned 32-bit time_t; 0 is the zero time.
func unixTime(v uint32) time.Time {
	if v == 0 {
		return time.Time{}
	}
	return time.Unix(int64(v), 0).UTC()
}

// Process implements target.Target. Command is the command line in the process environment block or
// in /proc/PID/cmdline; if the dump has neither, it is the path of the first module, the program.
func (f *File) Process() target.Process { return f.process.get(f.loadProcess) }

func (f *File) loadProcess(n *notes) target.Process {
	misc, status := f.MiscInfo(), f.status(n)
	p := target.Process{
		ID:        cmp.Or(misc.ProcessID, status.pid),
		Created:   misc.Created,
		DumpTime:  unixTime(f.header.time),
		Counters:  append(f.memoryCounters(n), status.counters...),
		Container: f.Container(),
		Comment:   f.comment(n),
	}
	if c, ok := f.Crashpad(); ok {
		p.Annotations = append(c.identifiers(), c.Annotations...)
	}
	if misc.HasTimes {
		p.Times = &target.Times{User: misc.User, Kernel: misc.Kernel}
	}
	line, ok := f.commandLine()
	if !ok {
		line = strings.Join(f.list(LinuxCommandLineStream, n), " ")
	}
	if line == "" {
		modules := f.modules.get(f.loadModules)
		line = modules.program()
	}
	p.Command = line
	return p
}

// Contents counts what the dump holds besides memory, modules and threads.
func (f *File) Contents() []target.Content {
	all := []target.Content{
		{Name: "handles", Count: len(f.Handles())},
		{Name: "unloaded modules", Count: len(f.UnloadedModules())},
		{Name: "regions of memory that are described", Count: max(len(f.MemoryInfos()), len(f.mappings()))},
		{Name: "tables of functions made at run time", Count: len(f.FunctionTables())},
		{Name: "environment variables", Count: len(f.Environment())},
		{Name: "objects of the dynamic linker", Count: len(f.LinkMaps())},
	}
	return slices.DeleteFunc(all, func(c target.Content) bool { return c.Count == 0 })
}

// comment joins the two comment streams and Breakpad's failed assertion.
func (f *File) comment(n *notes) string {
	var lines []string
	if s, ok := f.section(CommentStreamA, n); ok {
		lines = append(lines, decodeBytes(s.b[:min(len(s.b), maxComment)]))
	}
	if s, ok := f.section(CommentStreamW, n); ok {
		lines = append(lines, decodeUTF16(s.b[:min(len(s.b), maxComment)]))
	}
	if s, ok := f.section(AssertionInfoStream, n); ok {
		lines = append(lines, s.assertion(n))
	}
	return strings.Join(lines, "\n")
}

// assertion formats an MDRawAssertionInfo: expression, function and file, each in 128 UTF-16 units,
// then the line and the kind.
func (s *section) assertion(n *notes) string {
	const field, end = 256, 776
	if len(s.b) < end {
		n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
		return ""
	}
	kind := "an assertion failed"
	switch le.Uint32(s.b[end-4:]) {
	case 1:
		kind = "the C runtime was given an invalid parameter"
	case 2:
		kind = "a pure virtual function was called"
	}
	text := kind
	if what := decodeUTF16(s.b[:field]); what != "" {
		text += ": " + what
	}
	if function := decodeUTF16(s.b[field : 2*field]); function != "" {
		text += ", in " + function
	}
	if file := decodeUTF16(s.b[2*field : 3*field]); file != "" {
		text += fmt.Sprintf(" (%s:%d)", file, le.Uint32(s.b[3*field:]))
	}
	return text
}

// maxComment is the maximum number of bytes of a comment stream to read.
const maxComment = 1 << 20

// The path from the process environment block to the command line in a 64-bit process (winternl.h).
const (
	pebProcessParameters = 0x20 // PEB.ProcessParameters
	paramsCommandLine    = 0x70 // RTL_USER_PROCESS_PARAMETERS.CommandLine
	unicodeStringBuffer  = 8    // UNICODE_STRING.Buffer, after Length in bytes
)

// commandLine reads the command line from the process environment block.
func (f *File) commandLine() (string, bool) {
	threads := f.Threads()
	if len(threads) == 0 || threads[0].TEB == 0 || f.isForeign() || f.platform.Arch.PointerSize() != 8 {
		return "", false
	}
	peb, err := teb.PEB(&f.mem, threads[0].TEB)
	if err != nil {
		return "", false
	}
	params, err := target.Pointer(&f.mem, peb+pebProcessParameters)
	if err != nil {
		return "", false
	}
	length, err := target.Uint16(&f.mem, params+paramsCommandLine)
	if err != nil || length == 0 || int(length) > limits.PathBytes*2 {
		return "", false
	}
	buffer, err := target.Pointer(&f.mem, params+paramsCommandLine+unicodeStringBuffer)
	if err != nil {
		return "", false
	}
	b, err := target.Bytes(&f.mem, buffer, int(length))
	if err != nil {
		return "", false
	}
	return decodeUTF16(b), true
}
