package minidump

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// For processes of Linux, Breakpad and Crashpad copy files of /proc and /etc to streams
// (google_breakpad/common/minidump_format.h).

// maxText is the maximum number of bytes of a text stream to read.
const maxText = 16 << 20

// text returns the content of a text stream, or "".
func (f *File) text(t StreamType, n *notes) string {
	s, ok := f.section(t, n)
	if !ok {
		return ""
	}
	if len(s.b) > maxText {
		n.add(s.errorf(maxText, nil, "%d bytes of text: the first %d are read", len(s.b), maxText))
	}
	return strings.TrimRight(string(s.b[:min(len(s.b), maxText)]), "\x00")
}

// values splits a text of lines "key: value" or "key=value" and yields them in order, without white
// space and quotes.
func values(text, separator string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for line := range strings.Lines(text) {
			key, value, ok := strings.Cut(line, separator)
			if ok && !yield(strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"`)) {
				return
			}
		}
	}
}

// A procStatus holds the relevant lines of /proc/PID/status.
type procStatus struct {
	pid      uint32
	counters []target.Counter // of memory
}

// status reads /proc/PID/status. Its Tgid, the thread group, is the process id.
func (f *File) status(n *notes) procStatus {
	var s procStatus
	for key, value := range values(f.text(LinuxProcStatusStream, n), ":") {
		number, unit, _ := strings.Cut(value, " ")
		v, err := strconv.ParseUint(number, 10, 64)
		switch {
		case err != nil:
		case key == "Tgid" || key == "Pid" && s.pid == 0:
			s.pid = uint32(v)
		case unit == "kB" && (strings.HasPrefix(key, "Vm") || strings.HasPrefix(key, "Rss")) && v < 1<<54 && len(s.counters) < maxCounters:
			s.counters = append(s.counters, target.Counter{Name: key, Bytes: v << 10})
		}
	}
	return s
}

// maxCounters exceeds the number of memory counters in /proc/PID/status.
const maxCounters = 32

// processors reads the number of processors and the model of the first from /proc/cpuinfo.
func (f *File) processors(n *notes) (count int, model string) {
	for key, value := range values(f.text(LinuxCPUInfoStream, n), ":") {
		switch key {
		case "processor":
			count++
		case "model name", "cpu model", "Hardware":
			if model == "" {
				model = value
			}
		case "Processor":
			// On ARM this is the model; on other systems it is the number of the processor.
			if _, err := strconv.Atoi(value); err != nil && model == "" {
				model = value
			}
		}
	}
	return count, model
}

// distribution reads /etc/lsb-release or, from newer writers, /etc/os-release.
func (f *File) distribution(n *notes) string {
	var id, release string
	for key, value := range values(f.text(LinuxLSBReleaseStream, n), "=") {
		switch key {
		case "DISTRIB_DESCRIPTION", "PRETTY_NAME":
			return value
		case "DISTRIB_ID", "NAME":
			id = value
		case "DISTRIB_RELEASE", "VERSION_ID":
			release = value
		}
	}
	return strings.TrimSpace(id + " " + release)
}

// list splits a stream of zero-terminated texts.
func (f *File) list(t StreamType, n *notes) []string {
	text := f.text(t, n)
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// Environment lists the environment variables of a Linux process as NAME=VALUE, if the dump has
// them. They may hold secrets. The caller must not change the slice.
func (f *File) Environment() []string {
	return f.environment.get(func(n *notes) []string { return f.list(LinuxEnvironStream, n) })
}

// An AuxEntry is an entry of the auxiliary vector that the Linux kernel passed to the process
// (linux/auxvec.h).
type AuxEntry struct{ Tag, Value uint64 }

// Auxv returns the auxiliary vector without its terminator. It is empty if missing. The caller must
// not change the slice.
func (f *File) Auxv() []AuxEntry { return f.auxv.get(f.loadAuxv) }

func (f *File) loadAuxv(n *notes) []AuxEntry {
	s, ok := f.section(LinuxAuxvStream, n)
	if !ok {
		return nil
	}
	var out []AuxEntry
	word := f.platform.Arch.PointerSize()
	for b := s.b; len(b) >= 2*word && len(out) < limits.AuxEntries; b = b[2*word:] {
		e := AuxEntry{f.word(b), f.word(b[word:])}
		if e.Tag == 0 {
			break
		}
		out = append(out, e)
	}
	return out
}

// word reads a pointer of the process from b.
func (f *File) word(b []byte) uint64 {
	if f.platform.Arch.PointerSize() == 4 {
		return uint64(le.Uint32(b))
	}
	return le.Uint64(b)
}

// A LinkMap is an entry of the dynamic linker's list of objects (link.h).
type LinkMap struct {
	Base    target.Addr // added to the addresses in the file
	Dynamic target.Addr // the dynamic section
	Path    string      // empty for the program itself
}

// LinkMaps lists the objects that the dynamic linker had loaded, in its order. It is empty if not
// recorded. The caller must not change the slice.
func (f *File) LinkMaps() []LinkMap { return f.linkMaps.get(f.loadLinkMaps) }

// loadLinkMaps reads MDRawDebug32 or 64 and its array of MDRawLinkMap, with the alignment of the
// writer's compiler.
func (f *File) loadLinkMaps(n *notes) []LinkMap {
	s, ok := f.section(LinuxDSODebugStream, n)
	if !ok {
		return nil
	}
	const headSize = 12 // version, offset of the array, count
	if len(s.b) < headSize {
		n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
		return nil
	}
	word := f.platform.Arch.PointerSize()
	stride, count := 3*word, int64(le.Uint32(s.b[8:]))
	if count > limits.LinkMap {
		n.add(s.errorf(8, nil, "%d objects: the first %d are read", count, limits.LinkMap))
		count = limits.LinkMap
	}
	r := f.names(s.name)
	b, err := r.bytes(le.Uint32(s.b[4:]), count*int64(stride))
	if err != nil {
		n.add(err)
		return nil
	}
	out := make([]LinkMap, 0, count)
	for ; len(b) > 0; b = b[stride:] {
		name, err := r.string(le.Uint32(b[word:]))
		if err != nil {
			n.add(fmt.Errorf("object of the dynamic linker: name: %w", err))
		}
		out = append(out, LinkMap{Base: target.Addr(f.word(b)), Dynamic: target.Addr(f.word(b[2*word:])), Path: name})
	}
	return out
}

// A mapping is a line of /proc/PID/maps.
type mapping struct {
	target.Mapping
	prot target.Protection
	path string
}

// mappings reads /proc/PID/maps, sorted and without overlaps.
func (f *File) mappings() []mapping { return f.maps.get(f.loadMappings) }

func (f *File) loadMappings(n *notes) []mapping {
	var out []mapping
	bad := 0
	for line := range strings.Lines(f.text(LinuxMapsStream, n)) {
		m, ok := parseMapping(strings.TrimRight(line, "\r\n"))
		if !ok || len(out) > 0 && m.Start < out[len(out)-1].End {
			bad++
			continue
		}
		out = append(out, m)
	}
	if bad > 0 {
		n.add(target.Corruptf("minidump %s: %d lines are not understood", LinuxMapsStream, bad))
	}
	return out
}

// parseMapping reads a line such as
//
//	7f00-7f10 r-xp 00001000 08:01 4711   /lib/libc.so (proc(5))
func parseMapping(line string) (m mapping, ok bool) {
	field := func() string {
		line = strings.TrimLeft(line, " \t")
		i := strings.IndexAny(line+" ", " \t")
		s := line[:i]
		line = line[i:]
		return s
	}
	from, to, _ := strings.Cut(field(), "-")
	access := field()
	offset := field()
	field() // device
	field() // inode
	m.path = strings.TrimSpace(line)
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	off, err3 := strconv.ParseUint(offset, 16, 64)
	if err1 != nil || err2 != nil || err3 != nil || end <= start || len(access) < 3 {
		return mapping{}, false
	}
	m.Mapping = target.Mapping{Start: target.Addr(start), End: target.Addr(end), Offset: off}
	for i, p := range [...]target.Protection{target.ProtRead, target.ProtWrite, target.ProtExec} {
		if access[i] == "rwx"[i] {
			m.prot |= p
		}
	}
	return m, true
}

// region returns the mapping as a region.
func (m *mapping) region() target.Region {
	r := target.Region{Start: m.Start, Size: uint64(m.End - m.Start), Prot: m.prot, Kind: target.RegionPrivate, Path: m.path}
	switch {
	case strings.HasPrefix(m.path, "[stack"):
		r.Kind, r.Path = "stack", ""
	case strings.HasPrefix(m.path, "["):
		r.Path = ""
	case m.path != "":
		r.Kind = target.RegionMapped
	}
	return r
}

// addMappings adds the mappings in /proc/PID/maps to the modules.
func (f *File) addMappings(modules []target.Module) {
	maps := f.mappings()
	for i := range modules {
		m := &modules[i]
		for j := sort.Search(len(maps), func(j int) bool { return maps[j].Start >= m.Base }); j < len(maps) && m.Contains(maps[j].Start); j++ {
			if maps[j].path == m.Path {
				m.Mappings = append(m.Mappings, maps[j].Mapping)
			}
		}
	}
}
