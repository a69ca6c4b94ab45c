package scrub

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// Parts of a minidump (minidumpapiset.h). The reader has verified its header.
const (
	miniHeader, miniEntry = 32, 12

	threadList, moduleList, memoryList, exception, systemInfo, memory64List   = 3, 4, 5, 6, 7, 9
	commentA, commentW, handleData, functionTable, unloadedModules, miscInfo  = 10, 11, 12, 13, 14, 15
	memoryInfo, threadInfo, systemMemory, processCounters, threadNames        = 16, 17, 21, 22, 24
	threadEntry, moduleEntry, rangeEntry, unloadedEntry, nameEntry, nameIndex = 48, 108, 16, 24, 12, 4

	// An entry of DSODebug (breakpad's MDRawLinkMap64): base, offset of the name, dynamic section.
	linkMapHead, linkMapEntry, linkMapName = 12, 24, 8
)

// A mini reads the streams of a minidump. Like the reader, it ignores parts past the end of the file.
type mini struct {
	*container

	j    *job
	list []edit
}

func readMinidump(src target.Source) (*container, error) {
	c := &container{src: src, structures: []span{{size: miniHeader}}}
	m := &mini{container: c}
	var stacks []memmap.Range
	err := m.streams(func(_ int64, kind uint32, b []byte, _ int64) {
		switch kind {
		case threadList:
			for e := range entries(b, 4, threadEntry, count32(b, 0)) {
				if le.Uint32(e[36:]) == 0 {
					continue // it is among the memory
				}
				stacks = append(stacks, memmap.Range{Addr: target.Addr(le.Uint64(e[24:])), Size: uint64(le.Uint32(e[32:])), Offset: int64(le.Uint32(e[36:]))})
			}
		case memoryList:
			for e := range entries(b, 4, rangeEntry, count32(b, 0)) {
				c.ranges = append(c.ranges, memmap.Range{Addr: target.Addr(le.Uint64(e)), Size: uint64(le.Uint32(e[8:])), Offset: int64(le.Uint32(e[12:]))})
			}
		case memory64List:
			if len(b) < 16 {
				return
			}
			off := le.Uint64(b[8:])
			for e := range entries(b, 16, rangeEntry, le.Uint64(b)) {
				r := memmap.Range{Addr: target.Addr(le.Uint64(e)), Size: le.Uint64(e[8:]), Offset: int64(off)}
				c.ranges = append(c.ranges, r)
				off += r.Size
			}
		}
	})
	c.ranges = append(c.ranges, stacks...)
	c.edits = func(j *job) ([]edit, error) {
		m.j = j
		err := m.streams(m.stream)
		return m.list, err
	}
	return c, err
}

func count32(b []byte, off int) uint64 {
	if len(b) < off+4 {
		return 0
	}
	return uint64(le.Uint32(b[off:]))
}

// entries iterates over n entries of size bytes from off on, as far as they are in b.
func entries(b []byte, off, size int, n uint64) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for i := uint64(0); i < n && len(b)-off >= size; i++ {
			if !yield(b[off : off+size]) {
				return
			}
			off += size
		}
	}
}

// streams calls f for the streams, with the offset of the directory entry and of the stream.
func (m *mini) streams(f func(entry int64, kind uint32, b []byte, off int64)) error {
	head, err := corefile.ReadAt(m.src, 0, miniHeader)
	if err != nil {
		return err
	}
	n, at := uint64(le.Uint32(head[8:])), uint64(le.Uint32(head[12:]))
	size := uint64(m.src.Size())
	n = min(n, (size-min(at, size))/miniEntry)
	directory, err := corefile.ReadAt(m.src, at, n*miniEntry)
	if err != nil {
		return err
	}
	for i := range n {
		e := directory[i*miniEntry:]
		length, off := uint64(le.Uint32(e[4:])), uint64(le.Uint32(e[8:]))
		if off > size {
			continue
		}
		b, err := corefile.ReadAt(m.src, off, min(length, size-off))
		if err != nil {
			return err
		}
		f(int64(at+i*miniEntry), le.Uint32(e), b, int64(off))
	}
	return nil
}

// keep adds a structure that stays.
func (m *mini) keep(off, size int64) { m.structures = append(m.structures, span{off: off, size: size}) }

// stream adds the parts of a stream that stay. Unknown streams are removed: they may contain anything.
func (m *mini) stream(entry int64, kind uint32, b []byte, off int64) {
	m.keep(entry, miniEntry)
	switch kind {
	case threadList:
		for e := range entries(b, 4, threadEntry, count32(b, 0)) {
			m.context(e[40:])
		}
	case exception:
		if len(b) >= 168 {
			m.context(b[160:])
		}
	case moduleList:
		for e := range entries(b, 4, moduleEntry, count32(b, 0)) {
			m.text(int64(le.Uint32(e[20:])), false)
			m.keep(int64(le.Uint32(e[80:])), int64(le.Uint32(e[76:])))
			m.keep(int64(le.Uint32(e[88:])), int64(le.Uint32(e[84:])))
		}
	case systemInfo:
		if len(b) >= 28 {
			m.text(int64(le.Uint32(b[24:])), false)
		}
	case unloadedModules:
		if len(b) >= 12 {
			for e := range entries(b, int(min(le.Uint32(b), 1<<20)), int(max(min(le.Uint32(b[4:]), 1<<20), unloadedEntry)), count32(b, 8)) {
				m.text(int64(le.Uint32(e[20:])), false)
			}
		}
	case threadNames:
		for e := range entries(b, 4, nameEntry, count32(b, 0)) {
			m.text(int64(le.Uint64(e[nameIndex:])), true)
		}
	case handleData:
		if len(b) >= 12 {
			for e := range entries(b, int(min(le.Uint32(b), 1<<20)), int(max(min(le.Uint32(b[4:]), 1<<20), 32)), count32(b, 8)) {
				m.text(int64(le.Uint32(e[8:])), false)
				m.text(int64(le.Uint32(e[12:])), true)
			}
		}
	case commentA, commentW:
		fresh := slices.Clone(b)
		used := len(fresh)
		for used > 0 && fresh[used-1] == 0 {
			used--
		}
		if kind == commentW {
			used += used & 1
		}
		m.j.disguise.replace(fresh[:used], kind == commentW)
		m.j.counts.Texts.Add(uint64(used))
		m.list = append(m.list, edit{off, fresh})
	case uint32(minidump.LinuxCommandLineStream), uint32(minidump.LinuxEnvironStream):
		m.texts(off, slices.Clone(b), kind == uint32(minidump.LinuxEnvironStream))
	case uint32(minidump.LinuxDSODebugStream):
		if len(b) < linkMapHead {
			break
		}
		at, n := int64(le.Uint32(b[4:])), min(uint64(le.Uint32(b[8:])), limits.LinkMap)
		objects, err := corefile.ReadAt(m.src, uint64(at), n*linkMapEntry)
		if err != nil {
			break
		}
		m.keep(at, int64(len(objects)))
		for e := range entries(objects, 0, linkMapEntry, n) {
			m.text(int64(le.Uint32(e[linkMapName:])), false)
		}
	case uint32(minidump.BreakpadInfoStream), uint32(minidump.LinuxCPUInfoStream), uint32(minidump.LinuxProcStatusStream), uint32(minidump.LinuxLSBReleaseStream),
		uint32(minidump.LinuxAuxvStream), uint32(minidump.LinuxMapsStream):
	case memoryList, memory64List, functionTable, miscInfo, memoryInfo, threadInfo, systemMemory, processCounters:
	default:
		m.list = append(m.list, edit{entry, make([]byte, miniEntry)})
		return
	}
	m.keep(off, int64(len(b)))
}

// texts replaces the arguments, or the values of variables, in texts that end with zeros. The program, the
// first argument, stays.
func (m *mini) texts(off int64, b []byte, variables bool) {
	first := !variables
	for rest := b; len(rest) > 0; {
		text := cutNUL(rest)
		rest = rest[min(len(text)+1, len(rest)):]
		value := text
		if name, of, found := bytes.Cut(text, []byte("=")); variables && found {
			if value = of; isKnob(name, of) {
				value = nil
			}
		}
		if !first {
			m.j.argument(value)
		}
		first = false
	}
	m.list = append(m.list, edit{off, b})
}

// runtimeThread starts the names of the runtime's own threads.
const runtimeThread = ".NET "

// text keeps a MINIDUMP_STRING, or replaces its characters.
func (m *mini) text(off int64, replaced bool) {
	if off <= 0 || off > m.src.Size() {
		return
	}
	head, err := corefile.ReadAt(m.src, uint64(off), 4)
	if err != nil {
		return
	}
	n := uint64(le.Uint32(head))
	b, err := corefile.ReadAt(m.src, uint64(off)+4, n)
	if err != nil {
		return
	}
	m.keep(off, int64(n)+6)
	if replaced && len(b) > 0 && !m.j.public(b) && !strings.HasPrefix(utf16text.String(b), runtimeThread) {
		fresh := slices.Clone(b)
		m.j.disguise.replace(fresh, true)
		m.j.counts.Texts.Add(n)
		m.list = append(m.list, edit{off + 4, fresh})
	}
}

// contextFlags is the offset of the words that describe a CONTEXT, by its size (winnt.h). Vectors start at
// contextVectors, after the general registers.
var contextFlags, contextVectors = map[int]int{1232: 0x30, 912: 0}, map[int]int{1232: 0x100, 912: 0x110}

// context replaces registers that are not pointers. at is a MINIDUMP_LOCATION_DESCRIPTOR.
func (m *mini) context(at []byte) {
	size, off := int64(le.Uint32(at)), int64(le.Uint32(at[4:]))
	b, err := corefile.ReadAt(m.src, uint64(off), uint64(size))
	if err != nil || size == 0 {
		return
	}
	fresh := slices.Clone(b)
	flags, known := contextFlags[len(b)]
	if !known {
		flags = -1 // another processor: its flags are small
	}
	general := len(b)
	if v, ok := contextVectors[len(b)]; ok {
		general = v
		m.j.zero(fresh[general:], &m.j.counts.Notes)
	}
	for i := 0; i < general; i += wordSize {
		if i != flags && i != flags+wordSize {
			m.j.registers(fresh[i:min(i+wordSize, general)])
		}
	}
	m.keep(off, size)
	m.list = append(m.list, edit{off, fresh})
}

// Offsets from the process environment block to the command line in winternl.h, for 64-bit processes.
const pebParameters, parametersCommandLine, unicodeBuffer = 0x20, 0x70, 8

// commandLine replaces the arguments in the process parameters of Windows. The environment is native memory
// that no command reads.
func (j *job) commandLine(t target.Target, stored []memmap.Range) []edit {
	if t.Platform().OS != target.OSWindows {
		return nil
	}
	for _, th := range t.Threads() {
		peb, err := teb.PEB(t, th.TEB)
		if err != nil || th.TEB == 0 {
			continue
		}
		parameters, err := target.Pointer(t, peb+pebParameters)
		if err != nil {
			continue
		}
		n, err := target.Uint16(t, parameters+parametersCommandLine)
		if err != nil {
			continue
		}
		at, err := target.Pointer(t, parameters+parametersCommandLine+unicodeBuffer)
		if err != nil {
			continue
		}
		b, err := target.Bytes(t, at, int(n)&^1)
		if err != nil || len(b) == 0 {
			continue
		}
		fresh := slices.Clone(b)
		rest := fresh
		for i := 0; i+1 < len(fresh) && len(rest) == len(fresh); i += 2 { // the program stays
			if le.Uint16(fresh[i:]) == ' ' {
				rest = fresh[i+2:]
			}
		}
		if len(rest) < len(fresh) && len(rest) > 0 {
			j.disguise.replace(rest, true)
			j.counts.Texts.Add(uint64(len(rest)))
		}
		return place(stored, at, fresh)
	}
	return nil
}
