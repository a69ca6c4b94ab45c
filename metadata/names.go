package metadata

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// nameBuffer is the size of the stack buffers for names. Longer names cost one more allocation.
const nameBuffer = 256

// TypeDefName returns the namespace and the name of a type, by TypeDef rid. A nested type has no namespace of its own.
func (md *Metadata) TypeDefName(rid uint32) (namespace, name string, err error) {
	row, err := md.TypeDef(rid)
	if err != nil {
		return "", "", err
	}
	return md.twoStrings(row.Namespace, row.Name)
}

// TypeRefName returns the namespace and the name of a type reference, by TypeRef rid.
func (md *Metadata) TypeRefName(rid uint32) (namespace, name string, err error) {
	row, err := md.TypeRef(rid)
	if err != nil {
		return "", "", err
	}
	return md.twoStrings(row.Namespace, row.Name)
}

func (md *Metadata) twoStrings(a, b StringIndex) (string, string, error) {
	x, err := md.String(a)
	if err != nil {
		return "", "", err
	}
	y, err := md.String(b)
	return x, y, err
}

// tooDeep returns the error for a chain of enclosing types that is full. It is corrupt if the next type is in the chain already.
func tooDeep[T comparable](chain []T, next T) error {
	if slices.Contains(chain, next) {
		return corruptf(0, "a type is nested in itself")
	}
	return target.Limitf("types are nested more than %d deep", len(chain))
}

// TypeDefFullName returns the reflection name of a type, "Ns.Outer+Inner", by TypeDef rid. More than limits.NestedTypeDepth types in
// each other are target.ErrLimit, and a type in itself is corrupt.
func (md *Metadata) TypeDefFullName(rid uint32) (string, error) {
	var buf [nameBuffer]byte
	b, err := md.AppendTypeDefFullName(buf[:0], rid)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// AppendTypeDefFullName appends the result of TypeDefFullName. It returns dst unchanged with an error.
func (md *Metadata) AppendTypeDefFullName(dst []byte, rid uint32) ([]byte, error) {
	var chain [limits.NestedTypeDepth]uint32 // innermost first
	n := 0
	for rid != 0 {
		if n == len(chain) {
			return dst, tooDeep(chain[:], rid)
		}
		chain[n] = rid
		n++
		outer, err := md.EnclosingClass(rid)
		if err != nil {
			return dst, err
		}
		rid = outer
	}
	out := dst
	for n--; n >= 0; n-- {
		namespace, name, err := md.typeDefName(chain[n])
		if err == nil {
			out, err = md.appendName(out, namespace, name)
		}
		if err != nil {
			return dst, err
		}
		if n > 0 {
			out = append(out, '+')
		}
	}
	return out, nil
}

// TypeRefFullName returns the reflection name of a type reference, "Ns.Outer+Inner", by TypeRef rid, without
// its assembly.
func (md *Metadata) TypeRefFullName(rid uint32) (string, error) {
	var buf [nameBuffer]byte
	b, err := md.appendTypeRefFullName(buf[:0], rid)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

// appendTypeRefFullName appends the result of TypeRefFullName. It returns dst unchanged with an error.
func (md *Metadata) appendTypeRefFullName(dst []byte, rid uint32) ([]byte, error) {
	var chain [limits.NestedTypeDepth]TypeRefRow // innermost first
	n := 0
	for {
		row, err := md.TypeRef(rid)
		if err != nil {
			return dst, err
		}
		if n == len(chain) {
			return dst, tooDeep(chain[:], row)
		}
		chain[n] = row
		n++
		if row.Scope.Table() != TableTypeRef || row.Scope.IsNil() {
			break
		}
		rid = row.Scope.Row()
	}
	out, err := dst, error(nil)
	for n--; n >= 0; n-- {
		if out, err = md.appendName(out, chain[n].Namespace, chain[n].Name); err != nil {
			return dst, err
		}
		if n > 0 {
			out = append(out, '+')
		}
	}
	return out, nil
}

// TypeFullName returns the reflection name of a TypeDef or TypeRef. It returns target.ErrUnsupported for other
// tokens: a TypeSpec has a signature instead of a name.
func (md *Metadata) TypeFullName(t Token) (string, error) {
	switch t.Table() {
	case TableTypeDef:
		return md.TypeDefFullName(t.Row())
	case TableTypeRef:
		return md.TypeRefFullName(t.Row())
	}
	return "", target.Unsupportedf("token %s names no type", t)
}

// TypeRefScope returns the resolution scope of a type reference or of its outermost enclosing type: a Module,
// ModuleRef or AssemblyRef.
func (md *Metadata) TypeRefScope(rid uint32) (Token, error) {
	var chain [limits.NestedTypeDepth]uint32
	for i := range chain {
		row, err := md.TypeRef(rid)
		if err != nil || row.Scope.Table() != TableTypeRef {
			return row.Scope, err
		}
		chain[i], rid = rid, row.Scope.Row()
	}
	return 0, tooDeep(chain[:], rid)
}

// appendName appends "namespace.name".
func (md *Metadata) appendName(dst []byte, namespace, name StringIndex) ([]byte, error) {
	ns, err := md.StringBytes(namespace)
	if err != nil {
		return dst, err
	}
	nm, err := md.StringBytes(name)
	if err != nil {
		return dst, err
	}
	if len(ns) > 0 {
		dst = append(append(dst, ns...), '.')
	}
	return append(dst, nm...), nil
}

// A typeIndex is an open hash table from full names to TypeDef rids. It does not store names: lookups compare
// with the metadata.
type typeIndex struct {
	asked   atomic.Uint32 // calls of FindTypeDef, at most unindexed
	once    sync.Once
	slots   []typeSlot // a power of two, at most half full
	missing error      // why types are not in the index, nil if all are
}

// unindexed is the number of names that FindTypeDef searches row by row before it builds the index. Most
// commands need few names, and indexing CoreLib takes longer than the rest of clrthreads.
const unindexed = 8

type typeSlot struct{ hash, rid uint32 }

// FindTypeDef finds a type by its reflection name, "Ns.Outer+Inner". The first of two types with the same name
// wins. It does not find types with missing or corrupt names; UnnamedTypes returns the reason.
func (md *Metadata) FindTypeDef(fullName string) (Token, bool) {
	if md.types.asked.Load() < unindexed && md.types.asked.Add(1) <= unindexed {
		return md.searchTypeDef(fullName)
	}
	return md.indexedTypeDef(fullName)
}

// indexedTypeDef is FindTypeDef with the index.
func (md *Metadata) indexedTypeDef(fullName string) (Token, bool) {
	md.types.once.Do(md.buildTypeIndex)
	slots := md.types.slots
	if len(slots) == 0 {
		return 0, false
	}
	var buf [nameBuffer]byte
	h := hashName(fullName)
	for i := int(h); ; i++ {
		s := slots[i&(len(slots)-1)]
		if s.rid == 0 {
			return 0, false
		}
		if s.hash != h {
			continue
		}
		name, err := md.AppendTypeDefFullName(buf[:0], s.rid)
		if err == nil && string(name) == fullName {
			return NewToken(TableTypeDef, s.rid), true
		}
	}
}

// searchTypeDef is FindTypeDef without the index.
func (md *Metadata) searchTypeDef(fullName string) (Token, bool) {
	var first [256]bool // bytes with which a simple name may begin
	for i := range len(fullName) {
		first[fullName[i]] = first[fullName[i]] || i == 0 || fullName[i-1] == '.' || fullName[i-1] == '+'
	}
	first[0] = true // names may be empty
	heap := md.b[md.strings.off : md.strings.off+md.strings.size]
	for rid := uint32(1); rid <= md.tables[TableTypeDef].rows; rid++ {
		row := md.row(TableTypeDef, rid)
		if i := row.column(1); (i == 0 || uint64(i) < uint64(len(heap)) && first[heap[i]]) && md.isNamed(rid, fullName) {
			return NewToken(TableTypeDef, rid), true
		}
	}
	return 0, false
}

// typeDefName reads the name columns of a TypeDef row. It ignores damage in other columns.
func (md *Metadata) typeDefName(rid uint32) (namespace, name StringIndex, err error) {
	row := md.row(TableTypeDef, rid)
	return StringIndex(row.column(2)), StringIndex(row.column(1)), row.err
}

// isNamed reports whether a type has the full name. It compares from the end of the name and stops at the first
// difference. That keeps a search linear even if all rows share a long string.
func (md *Metadata) isNamed(rid uint32, fullName string) bool {
	rest := fullName
	for range limits.NestedTypeDepth {
		namespace, name, err := md.typeDefName(rid)
		if err != nil || !md.cutName(&rest, name) {
			return false
		}
		if before, dotted := strings.CutSuffix(rest, "."); dotted {
			if rest = before; !md.cutName(&rest, namespace) || len(rest) == len(before) {
				return false
			}
		} else if empty := ""; !md.cutName(&empty, namespace) {
			return false
		}
		if rid, err = md.EnclosingClass(rid); err != nil {
			return false
		}
		if rid == 0 {
			return rest == ""
		}
		var nested bool
		if rest, nested = strings.CutSuffix(rest, "+"); !nested {
			return false
		}
	}
	return false
}

// cutName removes the string at i from the end of text. It returns false if text does not end with it, or if it
// is unreadable.
func (md *Metadata) cutName(text *string, i StringIndex) bool {
	if i == 0 {
		return true
	}
	h := md.strings
	if uint64(i) >= uint64(h.size) {
		return false
	}
	start := h.off + int(i)
	b := md.b[start : start+min(h.size-int(i), limits.IdentifierBytes+1, len(*text)+1)]
	n := bytes.IndexByte(b, 0)
	if n < 0 || (*text)[len(*text)-n:] != string(b[:n]) || md.available != nil && md.need(start, n+1) != nil {
		return false
	}
	*text = (*text)[:len(*text)-n]
	return true
}

// UnnamedTypes returns why the names of some types are unreadable, or nil if all names are known. A type that
// FindTypeDef does not find may be one of these.
func (md *Metadata) UnnamedTypes() error {
	md.types.once.Do(md.buildTypeIndex)
	return md.types.missing
}

// buildTypeIndex hashes every name. It stops after hashing a multiple of the metadata's size: rows that all
// share a long string would make it quadratic otherwise.
func (md *Metadata) buildTypeIndex() {
	rows := md.tables[TableTypeDef].rows
	size := 1
	for size < 2*int(rows) {
		size *= 2
	}
	if rows == 0 {
		return
	}
	slots := make([]typeSlot, size)
	budget := 64 * len(md.b)
	var buf []byte
	for rid := uint32(1); rid <= rows; rid++ {
		if budget <= 0 {
			md.types.missing = corruptf(md.tables[TableTypeDef].off, "names of types are longer than the metadata can hold")
			break
		}
		name, err := md.AppendTypeDefFullName(buf[:0], rid)
		if err != nil {
			md.types.missing = cmp.Or(md.types.missing, err)
			continue
		}
		buf = name
		budget -= len(name)
		h := hashName(name)
		i := int(h)
		for slots[i&(size-1)].rid != 0 {
			i++
		}
		slots[i&(size-1)] = typeSlot{h, rid}
	}
	md.types.slots = slots
}

// hashName returns 64-bit FNV-1a, folded to 32 bits.
func hashName[T string | []byte](name T) uint32 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	return uint32(h ^ h>>32)
}
