package minidump

import (
	"math"

	"github.com/sosgo/sosgo/target"
)

// A counterField is a field of a stream that counts memory.
type counterField struct {
	off  int
	name string
	flag uint16 // set if the field is filled in; 0 means always
}

// MINIDUMP_PROCESS_VM_COUNTERS_1 and _2; the second has flags and more fields.
const (
	vmCountersRevision2 = 2
	vmCountersFlags     = 2 // offset

	vmCounterVirtual = 2 // MINIDUMP_PROCESS_VM_COUNTERS_VIRTUALSIZE
	vmCounterPrivate = 4 // …_EX
	vmCounterShared  = 8 // …_EX2
)

var (
	vmCounters1 = []counterField{
		{16, "working set", 0}, {8, "peak working set", 0}, {32, "paged pool", 0}, {48, "nonpaged pool", 0},
		{56, "committed", 0}, {64, "peak committed", 0}, {72, "private", 0},
	}
	vmCounters2 = []counterField{
		{16, "working set", 0}, {8, "peak working set", 0}, {32, "paged pool", 0}, {48, "nonpaged pool", 0},
		{56, "committed", 0}, {64, "peak committed", 0}, {80, "address space", vmCounterVirtual}, {72, "peak address space", vmCounterVirtual},
		{88, "private", vmCounterPrivate}, {96, "private working set", vmCounterShared},
	}
)

// MINIDUMP_SYSTEM_MEMORY_INFO_1: the page size, the number of physical pages, and
// MINIDUMP_SYSTEM_BASIC_PERFORMANCE_INFORMATION, which counts pages.
const (
	systemFlags         = 2
	systemPageSize      = 4 + 4
	systemPhysicalPages = 4 + 8
	systemMemoryEnd     = 148

	systemBasicPerformance = 2 // MINIDUMP_SYSMEMINFO1_BASICPERF
)

var systemCounters = []counterField{
	{116, "system: available", systemBasicPerformance}, {124, "system: committed", systemBasicPerformance},
	{132, "system: commit limit", systemBasicPerformance}, {140, "system: peak committed", systemBasicPerformance},
}

// memoryCounters returns the counters of the process's and the machine's memory.
func (f *File) memoryCounters(n *notes) []target.Counter {
	out := f.vmCounters(n)
	if s, ok := f.section(SystemMemoryInfoStream, n); ok {
		if len(s.b) < systemMemoryEnd {
			n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
			return out
		}
		page := uint64(le.Uint32(s.b[systemPageSize:]))
		out = appendCounter(out, "system: physical memory", uint64(le.Uint32(s.b[systemPhysicalPages:])), page)
		out = s.appendCounters(out, systemCounters, le.Uint16(s.b[systemFlags:]), page)
	}
	return out
}

func (f *File) vmCounters(n *notes) []target.Counter {
	s, ok := f.section(ProcessVmCountersStream, n)
	if !ok {
		return nil
	}
	if len(s.b) < 4 {
		n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
		return nil
	}
	if le.Uint16(s.b) >= vmCountersRevision2 {
		return s.appendCounters(nil, vmCounters2, le.Uint16(s.b[vmCountersFlags:]), 1)
	}
	return s.appendCounters(nil, vmCounters1, 0, 1)
}

// appendCounters appends the fields that are present and filled in, in units of unit bytes.
func (s *section) appendCounters(out []target.Counter, fields []counterField, flags uint16, unit uint64) []target.Counter {
	for _, c := range fields {
		if len(s.b) >= c.off+8 && (c.flag == 0 || flags&c.flag != 0) {
			out = appendCounter(out, c.name, le.Uint64(s.b[c.off:]), unit)
		}
	}
	return out
}

// appendCounter appends a counter unless it is impossibly large.
func appendCounter(out []target.Counter, name string, count, unit uint64) []target.Counter {
	if unit == 0 || count > math.MaxInt64/unit {
		return out
	}
	return append(out, target.Counter{Name: name, Bytes: count * unit})
}
