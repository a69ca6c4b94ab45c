package scrub

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An imageScrubber replaces texts in the images of the program's own modules: literals of code, of constants
// and of attributes, initial values of arrays, and resources.
type imageScrubber struct {
	*job
	target target.Target
	stored []memmap.Range
	edits  []edit
	paths  []string // paths of PDBs
	unread []area   // unreadable images: only what commands read stays
}

// images visits each copy of an own module's image in the process, and the modules made in memory.
func (s *imageScrubber) images(runtimes []*runtimeOf) {
	seen := map[target.Addr]bool{}
	visit := func(m target.Module) (read bool) {
		if seen[m.Base] {
			return true
		}
		seen[m.Base] = true
		return s.image(&m)
	}
	for _, r := range runtimes {
		modules, _ := r.rt.KnownModules() // the readable ones
		for _, m := range modules {
			name, nerr := m.SimpleName()
			switch at, err := m.Image(); {
			case nerr == nil && ofFramework(name):
			case err == nil && at.Start == 0:
				s.emitted(m)
			case err == nil && !visit(target.Module{Base: at.Start, Size: at.Size()}):
				s.markUnread(m, at)
			}
		}
	}
	for _, m := range s.target.Modules() {
		visit(m)
	}
	for r := range s.target.Regions() {
		if b, err := target.Bytes(s.target, r.Start, len(imageMark)); r.Path != "" && err == nil && string(b) == imageMark {
			visit(target.Module{Base: r.Start, Size: r.Size, Path: r.Path})
		}
	}
}

// imageMark starts an image.
const imageMark = "MZ"

// markUnread records an image with unreadable metadata. Only what commands read stays of the metadata and of
// resources, or of the whole image if its headers are missing.
func (s *imageScrubber) markUnread(m *dac.Module, at target.Range) {
	parts := []target.Range{at}
	if img, err := m.PEImage(); err == nil {
		if h, err := img.CLRHeader(); err == nil {
			parts = nil
			for _, d := range []image.Directory{h.Metadata, h.Resources} {
				if start, err := img.Address(d.RVA); err == nil {
					parts = append(parts, target.RangeAt(start, d.Size))
				}
			}
		}
	}
	for _, r := range parts {
		s.unread = append(s.unread, area{Range: r, kind: areaWords})
	}
}

// image replaces the texts of one copy of a managed image. It returns false if the image is unreadable.
func (s *imageScrubber) image(m *target.Module) bool {
	for _, l := range []image.Layout{image.Loaded, image.Flat} {
		img, err := image.OpenMemoryLayout(s.target, m, l)
		if err != nil {
			continue
		}
		header, err := img.CLRHeader()
		if err != nil {
			continue
		}
		blob, err := img.Metadata()
		if err != nil {
			continue
		}
		at, err := img.Address(blob.RVA)
		if err != nil {
			continue
		}
		fresh := slices.Clone(blob.Data)
		md, err := metadata.Parse(fresh)
		if err != nil {
			continue
		}
		if row, err := md.Assembly(1); err == nil {
			if name, err := md.String(row.Name); err == nil && ofFramework(name) {
				return true
			}
		}
		if pdb, err := img.PDB(); err == nil {
			s.paths = append(s.paths, pdb.Path)
		}
		s.metadata(md, fresh, blob.Gaps)
		s.put(at, fresh)
		for rid := uint32(1); rid <= md.RowCount(metadata.TableFieldRVA); rid++ {
			if row, err := md.FieldRVA(rid); err == nil {
				s.data(img, image.RVA(row.RVA), initialSize(md, row.Field))
			}
		}
		s.data(img, header.Resources.RVA, header.Resources.Size)
		return true
	}
	return false
}

// emitted replaces the literals of a module made in memory.
func (s *imageScrubber) emitted(m *dac.Module) {
	at := m.MetadataSource()
	if at.Addr == 0 {
		return
	}
	b, err := target.Bytes(s.target, at.Addr, int(at.Size))
	if err != nil {
		return
	}
	fresh := slices.Clone(b)
	if md, err := metadata.Parse(fresh); err == nil {
		s.metadata(md, fresh, nil)
		s.put(at.Addr, fresh)
	}
}

// metadata replaces the texts in b, the metadata of md.
func (s *imageScrubber) metadata(md *metadata.Metadata, b []byte, gaps []image.Gap) {
	off, size := md.UserStringHeap()
	first := slices.IndexFunc(gaps, func(g image.Gap) bool { return g.Off < off+size && g.Off+g.Len > off })
	for text := range md.UserStrings() { // missing bytes are zero: empty texts
		s.literal(text)
	}
	if first >= 0 { // later texts cannot be located
		rest := b[max(gaps[first].Off, off) : off+size]
		for i := range rest {
			if rest[i] != 0 {
				rest[i] = filler
			}
		}
	}
	for rid := uint32(1); rid <= md.RowCount(metadata.TableConstant); rid++ {
		if row, err := md.Constant(rid); err == nil && row.Type == metadata.ElementString {
			if text, err := md.Blob(row.Value); err == nil {
				s.literal(text[:len(text)&^1])
			}
		}
	}
	for rid := uint32(1); rid <= md.RowCount(metadata.TableCustomAttribute); rid++ {
		row, err := md.CustomAttribute(rid)
		if err != nil || describesCode(md, row) {
			continue
		}
		if value, err := md.Blob(row.Value); err == nil {
			s.attribute(value)
		}
	}
}

// literal replaces a UTF-16 text.
func (s *imageScrubber) literal(text []byte) {
	if !blank(text) && !s.public(text) {
		s.disguise.replace(text, true)
		s.counts.Literals.Add(uint64(len(text)))
	}
}

// describesCode reports whether an attribute is written by compilers for runtimes and debuggers, or describes
// versions of products.
func describesCode(md *metadata.Metadata, row metadata.CustomAttributeRow) bool {
	class, err := md.AttributeType(row)
	if err != nil || class.Table() != metadata.TableTypeRef {
		return false
	}
	ref, err := md.TypeRef(class.Row())
	if err != nil {
		return false
	}
	space, err := md.String(ref.Namespace)
	return err == nil && (space == "System.Diagnostics" || space == "System.Reflection" || space == "System.Runtime" || strings.HasPrefix(space, "System.Runtime."))
}

// attribute replaces the texts in the value of an attribute (ECMA-335 II.23.3). A length precedes each text.
func (s *imageScrubber) attribute(value []byte) {
	const prolog, oneByte, twoBytes = 2, 0x80, 0xc0
	for at := prolog; at < len(value); {
		n, prefix := int(value[at]), 1
		if n >= oneByte && n < twoBytes && at+1 < len(value) {
			n, prefix = n&^oneByte<<8|int(value[at+1]), 2
		}
		if n == 0 || n >= twoBytes && prefix == 1 || at+prefix+n > len(value) || !isPlain(value[at+prefix:at+prefix+n]) {
			at++
			continue
		}
		s.disguise.replace(value[at+prefix:at+prefix+n], false)
		s.counts.Literals.Add(uint64(n))
		at += prefix + n
	}
}

// isPlain reports whether b is text without control characters.
func isPlain(b []byte) bool {
	return utf8.Valid(b) && !slices.ContainsFunc(b, func(c byte) bool { return c < 0x80 && !printable(c) })
}

// initialSize returns the size in bytes of a field with an initial value in the image, or 0.
func initialSize(md *metadata.Metadata, field metadata.Token) uint64 {
	row, err := md.Field(field.Row())
	if err != nil {
		return 0
	}
	b, err := md.Blob(row.Signature)
	if err != nil {
		return 0
	}
	sig, err := metadata.ParseFieldSig(b)
	if err != nil {
		return 0
	}
	t := sig.Unmodified()
	if t.Kind == metadata.ElementValueType && t.Token.Table() == metadata.TableTypeDef {
		l, _, _ := md.LayoutOf(t.Token.Row())
		return uint64(l.ClassSize)
	}
	return objects.Leaf{Type: t.Kind}.Size()
}

// data replaces data of an image that its code reads, including the lengths of resources.
func (s *imageScrubber) data(img *image.Image, rva image.RVA, size uint64) {
	if rva == 0 || size == 0 || size > limits.MetadataSize {
		return
	}
	at, err := img.Address(rva)
	if err != nil {
		return
	}
	b, _, err := image.ReadSparse(s.target, at, int(size))
	if err != nil || blank(b) {
		return
	}
	fresh := slices.Clone(b)
	used := fresh[:len(bytes.TrimRight(fresh, "\x00"))]
	s.disguise.replace(used, false)
	s.counts.Literals.Add(uint64(len(used)))
	s.put(at, fresh)
}

// put writes b to the memory at a, as far as it is stored.
func (s *imageScrubber) put(a target.Addr, b []byte) {
	s.edits = append(s.edits, place(s.stored, a, b)...)
}
