package minidump

import (
	"fmt"
	"math"

	"github.com/sosgo/sosgo/internal/base/leftout"
)

// A StreamType is the type of a stream's content (minidumpapiset.h, MINIDUMP_STREAM_TYPE).
type StreamType uint32

// The stream types in minidumpapiset.h.
const (
	ThreadListStream          StreamType = 3
	ModuleListStream          StreamType = 4
	MemoryListStream          StreamType = 5
	ExceptionStream           StreamType = 6
	SystemInfoStream          StreamType = 7
	ThreadExListStream        StreamType = 8
	Memory64ListStream        StreamType = 9
	CommentStreamA            StreamType = 10
	CommentStreamW            StreamType = 11
	HandleDataStream          StreamType = 12
	FunctionTableStream       StreamType = 13
	UnloadedModuleListStream  StreamType = 14
	MiscInfoStream            StreamType = 15
	MemoryInfoListStream      StreamType = 16
	ThreadInfoListStream      StreamType = 17
	HandleOperationListStream StreamType = 18
	TokenStream               StreamType = 19
	JavaScriptDataStream      StreamType = 20
	SystemMemoryInfoStream    StreamType = 21
	ProcessVmCountersStream   StreamType = 22
	IptTraceStream            StreamType = 23
	ThreadNamesStream         StreamType = 24
)

// The stream types of Breakpad (google_breakpad/common/minidump_format.h) and Crashpad
// (minidump/minidump_extensions.h).
const (
	BreakpadInfoStream     StreamType = 0x47670001
	AssertionInfoStream    StreamType = 0x47670002
	LinuxCPUInfoStream     StreamType = 0x47670003
	LinuxProcStatusStream  StreamType = 0x47670004
	LinuxLSBReleaseStream  StreamType = 0x47670005
	LinuxCommandLineStream StreamType = 0x47670006
	LinuxEnvironStream     StreamType = 0x47670007
	LinuxAuxvStream        StreamType = 0x47670008
	LinuxMapsStream        StreamType = 0x47670009
	LinuxDSODebugStream    StreamType = 0x4767000a
	CrashpadInfoStream     StreamType = 0x43500001
)

// unusedStream marks directory entries that the writer reserved and did not use.
const unusedStream StreamType = 0

var streamNames = [...]string{3: "ThreadList", 4: "ModuleList", 5: "MemoryList", 6: "Exception", 7: "SystemInfo",
	8: "ThreadExList", 9: "Memory64List", 10: "CommentA", 11: "CommentW", 12: "HandleData", 13: "FunctionTable",
	14: "UnloadedModuleList", 15: "MiscInfo", 16: "MemoryInfoList", 17: "ThreadInfoList", 18: "HandleOperationList",
	19: "Token", 20: "JavaScriptData", 21: "SystemMemoryInfo", 22: "ProcessVmCounters", 23: "IptTrace", 24: "ThreadNames"}

var breakpadStreamNames = [...]string{1: "BreakpadInfo", 2: "AssertionInfo", 3: "/proc/cpuinfo", 4: "/proc/PID/status", 5: "/etc/lsb-release",
	6: "/proc/PID/cmdline", 7: "/proc/PID/environ", 8: "/proc/PID/auxv", 9: "/proc/PID/maps", 0xa: "DSODebug"}

// String returns the name of t in minidumpapiset.h without the suffix "Stream". For a stream that
// copies a file it returns the file's name.
func (t StreamType) String() string {
	if i := uint64(t - BreakpadInfoStream + 1); t >= BreakpadInfoStream && i < uint64(len(breakpadStreamNames)) {
		return breakpadStreamNames[i]
	}
	if t == CrashpadInfoStream {
		return "CrashpadInfo"
	}
	if t == leftout.Stream {
		return "sosgo shrink"
	}
	if uint64(t) < uint64(len(streamNames)) && streamNames[t] != "" {
		return streamNames[t]
	}
	return fmt.Sprintf("StreamType(%#x)", uint32(t))
}

// A Stream is an entry of the dump's directory.
type Stream struct {
	Type StreamType
	RVA  uint32 // file offset in bytes
	Size uint32 // bytes
}

// Name returns the name of the stream's type.
func (s Stream) Name() string { return s.Type.String() }

// Streams lists the directory in the dump's order, without its unused entries. The caller must not
// change the slice.
func (f *File) Streams() []Stream { return f.streams }

// Cut returns the number of bytes of memory and streams that the dump places past the end of the
// file.
func (f *File) Cut() uint64 {
	cut := f.mem.Cut()
	for _, s := range f.streams {
		if lack := int64(s.RVA) + int64(s.Size) - max(f.src.Size(), int64(s.RVA)); lack > 0 {
			cut += min(uint64(lack), math.MaxUint64-cut)
		}
	}
	return cut
}

// StreamBytes returns the bytes of s, or a *FormatError if the file does not hold all of them. The
// slice is read-only and valid until the dump is closed.
func (f *File) StreamBytes(s Stream) ([]byte, error) {
	return f.read(s.Name(), int64(s.RVA), int64(s.Size))
}

// stream returns the first stream of type t.
func (f *File) stream(t StreamType) (Stream, bool) {
	for _, s := range f.streams {
		if s.Type == t {
			return s, true
		}
	}
	return Stream{}, false
}
