package minidump

import (
	"fmt"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/internal/teb"
	"github.com/sosgo/sosgo/target"
)

// systemInfoSize is the part of MINIDUMP_SYSTEM_INFO in front of the
// processor's features, which nothing needs.
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
		OS:        platformOS(le.Uint32(b[20:])),
		Arch:      processorArch(le.Uint16(b)),
		OSVersion: fmt.Sprintf("%d.%d.%d", le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])),
		CPUs:      int(b[6]),
	}
	pack, err := f.names(s.name).string(le.Uint32(b[24:]))
	if err != nil {
		n.add(fmt.Errorf("service pack: %w", err))
	}
	if pack != "" {
		p.OSVersion += " " + pack
	}
	return p
}

// processorArch maps PROCESSOR_ARCHITECTURE_xxx of winnt.h.
func processorArch(v uint16) target.Arch {
	switch v {
	case 0:
		return target.Arch386
	case 5:
		return target.ArchARM
	case 9:
		return target.ArchAMD64
	case 12:
		return target.ArchARM64
	}
	return target.ArchUnknown
}

// platformOS maps VER_PLATFORM_xxx of winnt.h, and the values that Breakpad
// and Crashpad add for other systems (minidump_format.h).
func platformOS(v uint32) target.OS {
	switch v {
	case 1, 2:
		return target.OSWindows
	case 0x8101, 0x8102:
		return target.OSDarwin
	case 0x8201, 0x8203:
		return target.OSLinux
	}
	return target.OSUnknown
}

// Platform implements target.Target.
func (f *File) Platform() target.Platform { return f.platform }

// The versions of MINIDUMP_MISC_INFO are told apart by their size: where each
// version's fields end.
const (
	miscInfo1 = 24
	miscInfo2 = 44
	miscInfo3 = 232
	miscInfo4 = 832
	miscInfo5 = 1364
)

// MINIDUMP_MISC_INFO.Flags1: which fields hold something.
const (
	miscProcessID    = 0x01
	miscProcessTimes = 0x02
	miscPower        = 0x04
	miscIntegrity    = 0x10
	miscTimeZone     = 0x40
	miscBuild        = 0x100
	miscCookie       = 0x200
)

// A MiscInfo is the MiscInfo stream (MINIDUMP_MISC_INFO to _INFO_5). A zero
// field means that the dump does not say.
type MiscInfo struct {
	ProcessID      uint32
	Created        time.Time
	User, Kernel   time.Duration
	MaxMHz         uint32 // of the processor
	CurrentMHz     uint32
	IntegrityLevel uint32        // of the process, SECURITY_MANDATORY_xxx_RID
	TimeZone       string        // name of the standard time
	UTCOffset      time.Duration // of the standard time, east of Greenwich
	Build          string        // of the system, as it words it
	DebuggerBuild  string        // of the writer of the dump
	ProcessCookie  uint32
}

// MiscInfo returns what the MiscInfo stream holds.
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

// unixTime converts a time_t of 32 bits, unsigned so that it lasts.
func unixTime(v uint32) time.Time {
	if v == 0 {
		return time.Time{}
	}
	return time.Unix(int64(v), 0).UTC()
}

// Process implements target.Target. Command is the command line in the
// process environment block where the dump has it, else the path of the first
// module, which is the program.
func (f *File) Process() target.Process { return f.process.get(f.loadProcess) }

func (f *File) loadProcess(n *notes) target.Process {
	misc := f.MiscInfo()
	p := target.Process{
		ID:        misc.ProcessID,
		Created:   misc.Created,
		DumpTime:  unixTime(f.header.time),
		Container: "Windows minidump",
		Comment:   f.comment(n),
	}
	line, ok := f.commandLine()
	if !ok {
		line = f.modules.get(f.loadModules).program
	}
	p.Command = line
	return p
}

// comment joins the two comment streams.
func (f *File) comment(n *notes) string {
	var lines []string
	if s, ok := f.section(CommentStreamA, n); ok {
		lines = append(lines, decodeBytes(s.b[:min(len(s.b), maxComment)]))
	}
	if s, ok := f.section(CommentStreamW, n); ok {
		lines = append(lines, decodeUTF16(s.b[:min(len(s.b), maxComment)]))
	}
	return strings.Join(lines, "\n")
}

// maxComment is the part of a comment stream that is read, in bytes.
const maxComment = 1 << 20

// What winternl.h documents of the way from the process environment block to the command line, for
// 64-bit processes.
const (
	pebProcessParameters = 0x20 // PEB.ProcessParameters
	paramsCommandLine    = 0x70 // RTL_USER_PROCESS_PARAMETERS.CommandLine
	unicodeStringBuffer  = 8    // UNICODE_STRING.Buffer, behind Length in bytes
)

// commandLine reads the command line from the process environment block.
func (f *File) commandLine() (string, bool) {
	threads := f.Threads()
	if len(threads) == 0 || threads[0].TEB == 0 || f.platform.Arch.PointerSize() != 8 {
		return "", false
	}
	peb, err := teb.PEB(f.mem, threads[0].TEB)
	if err != nil {
		return "", false
	}
	params, err := target.Pointer(f.mem, peb+pebProcessParameters)
	if err != nil {
		return "", false
	}
	length, err := target.Uint16(f.mem, params+paramsCommandLine)
	if err != nil || length == 0 || int(length) > limits.PathBytes*2 {
		return "", false
	}
	buffer, err := target.Pointer(f.mem, params+paramsCommandLine+unicodeStringBuffer)
	if err != nil {
		return "", false
	}
	b, err := target.Bytes(f.mem, buffer, int(length))
	if err != nil {
		return "", false
	}
	return decodeUTF16(b), true
}
