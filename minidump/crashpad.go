package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Sizes in bytes of the packed structures in Crashpad's minidump/minidump_extensions.h.
const (
	crashpadInfoSize       = 52 // MinidumpCrashpadInfo, version 1
	crashpadModuleSize     = 20 // MinidumpModuleCrashpadInfo, version 1
	crashpadModuleLinkSize = 12 // MinidumpModuleCrashpadInfoLink
	crashpadPairSize       = 8  // MinidumpSimpleStringDictionaryEntry
	crashpadObjectSize     = 12 // MinidumpAnnotation

	crashpadObjectsEnd = 28 // of a MinidumpModuleCrashpadInfo with annotation objects
	crashpadStringType = 1  // of a MinidumpAnnotation: text
)

// A CrashpadInfo holds what Crashpad adds to a minidump.
type CrashpadInfo struct {
	Report, Client target.GUID // zero if missing
	Annotations    []target.Annotation
}

// identifiers returns the ids of the report and of the client as annotations. A zero id is missing.
func (c *CrashpadInfo) identifiers() []target.Annotation {
	var out []target.Annotation
	for _, id := range []struct {
		key   string
		value target.GUID
	}{{"Crashpad report id", c.Report}, {"Crashpad client id", c.Client}} {
		if id.value != (target.GUID{}) {
			out = append(out, target.Annotation{Key: id.key, Value: id.value.String()})
		}
	}
	return out
}

// Crashpad returns Crashpad's additions, and whether it wrote the dump.
func (f *File) Crashpad() (CrashpadInfo, bool) {
	c := f.crashpad.get(f.loadCrashpad)
	if c == nil {
		return CrashpadInfo{}, false
	}
	return *c, true
}

func (f *File) loadCrashpad(n *notes) *CrashpadInfo {
	s, ok := f.section(CrashpadInfoStream, n)
	if !ok {
		return nil
	}
	if len(s.b) < crashpadInfoSize {
		n.add(s.errorf(0, nil, "stream of %d bytes", len(s.b)))
		return &CrashpadInfo{}
	}
	r := &annotationReader{nameReader: f.names(s.name), notes: n, out: &CrashpadInfo{
		Report: target.GUID(s.b[4:20]), Client: target.GUID(s.b[20:36])}}
	r.pairs("", locationAt(s.b[36:]))
	r.modules(locationAt(s.b[44:]))
	return r.out
}

// An annotationReader follows the pointers in the stream.
type annotationReader struct {
	*nameReader
	notes *notes
	out   *CrashpadInfo
}

// list reads a count and its elements.
func (r *annotationReader) list(loc location, stride int) table {
	if loc.size == 0 {
		return table{}
	}
	b, err := r.bytes(loc.rva, int64(loc.size))
	if err != nil {
		r.notes.add(err)
		return table{}
	}
	s := section{name: r.stream, off: int64(loc.rva), size: loc.size, b: b}
	if len(b) < 4 {
		r.notes.add(s.errorf(0, nil, "no element count"))
		return table{}
	}
	return s.table(4, uint64(le.Uint32(b)), stride, bound{elements: limits.Annotations}, r.notes)
}

// utf8 reads the MinidumpUTF8String, or the array of bytes, at rva.
func (r *annotationReader) utf8(rva uint32) string {
	head, err := r.bytes(rva, 4)
	if err == nil {
		if n := le.Uint32(head); n > limits.PathBytes {
			err = &FormatError{Stream: r.stream, Off: int64(rva), Msg: fmt.Sprintf("text of %d bytes", n)}
		} else if head, err = r.bytes(rva+4, int64(n)); err == nil {
			return decodeBytes(head)
		}
	}
	r.notes.add(err)
	return ""
}

func (r *annotationReader) add(a target.Annotation) {
	if len(r.out.Annotations) < limits.Annotations {
		r.out.Annotations = append(r.out.Annotations, a)
	}
}

func (r *annotationReader) pairs(module string, loc location) {
	t := r.list(loc, crashpadPairSize)
	for i := range t.len() {
		r.add(target.Annotation{Module: module, Key: r.utf8(le.Uint32(t.at(i))), Value: r.utf8(le.Uint32(t.at(i)[4:]))})
	}
}

func (r *annotationReader) modules(loc location) {
	t := r.list(loc, crashpadModuleLinkSize)
	names := r.f.modules.get(r.f.loadModules).listed
	for i := range t.len() {
		e := t.at(i)
		index, at := le.Uint32(e), locationAt(e[4:])
		name := fmt.Sprintf("module %d", index)
		if uint64(index) < uint64(len(names)) {
			name = names[index]
		}
		b, err := r.bytes(at.rva, int64(at.size))
		if err == nil && len(b) < crashpadModuleSize {
			err = &FormatError{Stream: r.stream, Off: int64(at.rva), Msg: fmt.Sprintf("module of %d bytes", len(b))}
		}
		if err != nil {
			r.notes.add(err)
			continue
		}
		r.module(name, b)
	}
}

// module reads a MinidumpModuleCrashpadInfo.
func (r *annotationReader) module(name string, b []byte) {
	lines := r.list(locationAt(b[4:]), 4)
	for i := range lines.len() {
		r.add(target.Annotation{Module: name, Value: r.utf8(le.Uint32(lines.at(i)))})
	}
	r.pairs(name, locationAt(b[12:]))
	if len(b) < crashpadObjectsEnd {
		return
	}
	objects := r.list(locationAt(b[20:]), crashpadObjectSize)
	for i := range objects.len() {
		if e := objects.at(i); le.Uint16(e[4:]) == crashpadStringType {
			r.add(target.Annotation{Module: name, Key: r.utf8(le.Uint32(e)), Value: r.utf8(le.Uint32(e[8:]))})
		}
	}
}
