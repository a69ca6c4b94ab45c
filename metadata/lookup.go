package metadata

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// A RowRange is a run of rows of one table, such as the fields of a type. The zero RowRange is empty. For an
// unsorted table with rows missing from the dump, methods return the rows found together with the error.
type RowRange struct {
	md    *Metadata
	table TableID
	first uint32 // rid in the table, in its Ptr table, or index in perm
	n     uint32
	ptr   bool     // first counts rows of the Ptr table
	perm  []uint32 // rids ordered by the key, if the table is not sorted
}

// Table returns the table of the rows.
func (r RowRange) Table() TableID { return r.table }

// Len returns the number of rows.
func (r RowRange) Len() int { return int(r.n) }

// RID returns the rid of the i-th row, 0 <= i < Len. It can fail only in uncompressed metadata, where a list
// may go through a Ptr table.
func (r RowRange) RID(i int) (uint32, error) {
	if i < 0 || i >= int(r.n) {
		return 0, corruptf(0, "row %d of %d %s rows", i, r.n, r.table)
	}
	if r.perm != nil {
		return r.perm[int(r.first)+i], nil
	}
	rid := r.first + uint32(i)
	if !r.ptr {
		return rid, nil
	}
	p := r.md.row(ptrTable(r.table), rid)
	return p.column(0), p.err
}

// All iterates over the rids in order. It yields an error for an unreadable row.
func (r RowRange) All() iter.Seq2[uint32, error] {
	return func(yield func(uint32, error) bool) {
		for i := range int(r.n) {
			if !yield(r.RID(i)) {
				return
			}
		}
	}
}

// list returns the run of rows that starts at the value in column col of row rid. The run ends where the next
// row's starts (ECMA-335 II.22, "runs").
func (md *Metadata) list(id TableID, rid uint32, col int) (RowRange, error) {
	r := md.row(id, rid)
	start := r.column(col)
	if r.err != nil {
		return RowRange{}, r.err
	}
	of := TableID(schema[id].cols[col].arg)
	res := RowRange{md: md, table: of, first: start}
	rows := md.tables[of].rows
	if p := ptrTable(of); p != noTable && md.tables[p].rows > 0 {
		res.ptr, rows = true, md.tables[p].rows
	}
	end := rows + 1
	if rid < md.tables[id].rows {
		next := md.row(id, rid+1)
		if end = next.column(col); next.err != nil {
			return RowRange{}, next.err
		}
	}
	if start == 0 { // nil: no rows
		return res, nil
	}
	if start > end || end > rows+1 {
		return RowRange{}, corruptf(r.off, "rows %d to %d of %d in table %s", start, end, rows, of)
	}
	res.n = end - start
	return res, nil
}

// search returns the first row of a table, sorted by column col, with at least key in that column. It returns
// one more than the row count if every row has less.
func (md *Metadata) search(id TableID, col int, key uint64) (uint32, error) {
	lo, hi := uint32(1), md.tables[id].rows+1
	for lo < hi {
		mid := lo + (hi-lo)/2
		r := md.row(id, mid)
		v := uint64(r.column(col))
		if r.err != nil {
			return 0, r.err
		}
		if v < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// ownerOf returns the row of table id with child in the list of column col.
func (md *Metadata) ownerOf(id TableID, col int, child uint32) (uint32, error) {
	of := TableID(schema[id].cols[col].arg)
	if child == 0 || child > md.tables[of].rows {
		return 0, corruptf(0, "row %d of table %s, which has %d", child, of, md.tables[of].rows)
	}
	if p := ptrTable(of); md.tables[p].rows > 0 {
		pos, err := md.ptrPosition(p, child)
		if err != nil {
			return 0, err
		}
		child = pos
	}
	next, err := md.search(id, col, uint64(child)+1)
	if err != nil {
		return 0, err
	}
	if next <= 1 {
		return 0, corruptf(0, "row %d of table %s has no owner", child, of)
	}
	return next - 1, nil
}

// ptrPosition returns the row of Ptr table p that refers to rid.
func (md *Metadata) ptrPosition(p TableID, rid uint32) (uint32, error) {
	rows, err := md.ptrOwners[p].find(md, p, 0, rid)
	switch {
	case rows.n > 0:
		return rows.RID(0)
	case err != nil:
		return 0, err
	}
	return 0, corruptf(md.tables[p].off, "table %s does not refer to row %d", p, rid)
}

// A lookup orders an unsorted table by one of its columns. It is built on first use.
type lookup struct {
	once    sync.Once
	perm    []uint32 // rids by key, then by rid
	missing error    // the error of the first missing row; missing rows are not in perm
}

// find returns the rows of table id with key in column col. If rows are missing, it returns those found and the
// error.
func (l *lookup) find(md *Metadata, id TableID, col int, key uint32) (RowRange, error) {
	l.once.Do(func() { l.build(md, id, col) })
	value := func(rid uint32) uint32 {
		r := md.row(id, rid)
		return r.column(col)
	}
	lo, _ := slices.BinarySearchFunc(l.perm, key, func(rid, key uint32) int {
		return cmp.Compare(value(rid), key)
	})
	hi := lo
	for hi < len(l.perm) && value(l.perm[hi]) == key {
		hi++
	}
	rows := RowRange{md: md, table: id, first: uint32(lo), n: uint32(hi - lo), perm: l.perm}
	return rows, l.missing
}

func (l *lookup) build(md *Metadata, id TableID, col int) {
	type entry struct{ key, rid uint32 }
	entries := make([]entry, 0, md.tables[id].rows)
	for rid := uint32(1); rid <= md.tables[id].rows; rid++ {
		r := md.row(id, rid)
		if r.err != nil {
			l.missing = cmp.Or(l.missing, r.err)
			continue
		}
		entries = append(entries, entry{r.column(col), rid})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rid, b.rid))
	})
	l.perm = make([]uint32, len(entries))
	for i, e := range entries {
		l.perm[i] = e.rid
	}
}

// byKey returns the rows of a table with key in column col. It searches a sorted table, and builds an index of
// an unsorted one on first use. If rows of an unsorted table are missing, it returns the rows found and the
// error.
func (md *Metadata) byKey(id TableID, col int, key uint32) (RowRange, error) {
	if md.tables[id].rows == 0 {
		return RowRange{table: id}, nil
	}
	if !md.Sorted(id) || !sortedBy(id, col) {
		return md.lookups[lookupKey{id, col}.slot()].find(md, id, col, key)
	}
	first, err := md.search(id, col, uint64(key))
	if err != nil {
		return RowRange{}, err
	}
	end, err := md.search(id, col, uint64(key)+1)
	if err != nil {
		return RowRange{}, err
	}
	return RowRange{md: md, table: id, first: first, n: end - first}, nil
}

// only decodes the single row that byKey or byToken found, and then ignores their error about missing rows. It
// returns false if rows is empty.
func only[T any](rows RowRange, err error, decode func(rid uint32) (T, error)) (row T, ok bool, _ error) {
	if rows.n == 0 {
		return row, false, err
	}
	rid, err := rows.RID(0)
	if err == nil {
		row, err = decode(rid)
	}
	return row, err == nil, err
}

// byToken is byKey for a coded key column.
func (md *Metadata) byToken(id TableID, col int, t Token) (RowRange, error) {
	key, ok := codedIndex(schema[id].cols[col].arg).encode(t)
	if !ok {
		return RowRange{}, corruptf(0, "table %s has no rows for token %s", id, t)
	}
	return md.byKey(id, col, key)
}

// A lookupKey is a column that rows are looked up by.
type lookupKey struct {
	table TableID
	col   int
}

// lookupKeys lists the columns that rows are looked up by.
var lookupKeys = [...]lookupKey{
	{TableInterfaceImpl, 0}, {TableConstant, 1}, {TableCustomAttribute, 0}, {TableClassLayout, 2}, {TableFieldLayout, 1},
	{TableImplMap, 1}, {TableFieldRVA, 1}, {TableNestedClass, 0}, {TableNestedClass, 1}, {TableGenericParam, 2},
	{TableLocalScope, 0}, {TableCustomDebugInformation, 0},
}

const numLookups = len(lookupKeys)

// slot returns the index of k in lookupKeys, or -1 by a mistake in this package.
func (k lookupKey) slot() int { return slices.Index(lookupKeys[:], k) }

// sortedBy reports whether the specification sorts a table by column col (ECMA-335 II.22, portable PDB v1.0).
// The second column of NestedClass is not sorted.
func sortedBy(id TableID, col int) bool { return lookupKey{id, col} != lookupKey{TableNestedClass, 1} }

// Fields returns the fields of a type, by TypeDef rid.
func (md *Metadata) Fields(typeDef uint32) (RowRange, error) {
	return md.list(TableTypeDef, typeDef, 4)
}

// Methods returns the methods of a type, by TypeDef rid.
func (md *Metadata) Methods(typeDef uint32) (RowRange, error) {
	return md.list(TableTypeDef, typeDef, 5)
}

// Params returns the parameter rows of a method, by MethodDef rid. Parameters without name, flags and default
// value have no row.
func (md *Metadata) Params(method uint32) (RowRange, error) {
	return md.list(TableMethodDef, method, 5)
}

// FieldOwner returns the rid of the TypeDef that declares the field.
func (md *Metadata) FieldOwner(field uint32) (uint32, error) {
	return md.ownerOf(TableTypeDef, 4, field)
}

// MethodOwner returns the rid of the TypeDef that declares the method.
func (md *Metadata) MethodOwner(method uint32) (uint32, error) {
	return md.ownerOf(TableTypeDef, 5, method)
}

// EnclosingClass returns the rid of the TypeDef that encloses a type, or 0 if the type is not nested.
func (md *Metadata) EnclosingClass(typeDef uint32) (uint32, error) {
	rows, err := md.byKey(TableNestedClass, 0, typeDef)
	row, _, err := only(rows, err, md.NestedClass)
	return row.Enclosing.Row(), err
}

// NestedClasses returns the NestedClass rows of the types that a type encloses.
func (md *Metadata) NestedClasses(typeDef uint32) (RowRange, error) {
	return md.byKey(TableNestedClass, 1, typeDef)
}

// GenericParams returns the generic parameters of a TypeDef or MethodDef.
func (md *Metadata) GenericParams(owner Token) (RowRange, error) {
	return md.byToken(TableGenericParam, 2, owner)
}

// InterfaceImpls returns the InterfaceImpl rows of a type, by TypeDef rid.
func (md *Metadata) InterfaceImpls(typeDef uint32) (RowRange, error) {
	return md.byKey(TableInterfaceImpl, 0, typeDef)
}

// CustomAttributes returns the custom attributes of a token.
func (md *Metadata) CustomAttributes(parent Token) (RowRange, error) {
	return md.byToken(TableCustomAttribute, 0, parent)
}

// LayoutOf returns the ClassLayout row of a type. It returns false if the type has no such row.
func (md *Metadata) LayoutOf(typeDef uint32) (ClassLayoutRow, bool, error) {
	rows, err := md.byKey(TableClassLayout, 2, typeDef)
	return only(rows, err, md.ClassLayout)
}

// OffsetOf returns the explicit offset of a field in bytes. It returns false if the field has no explicit
// offset.
func (md *Metadata) OffsetOf(field uint32) (uint32, bool, error) {
	rows, err := md.byKey(TableFieldLayout, 1, field)
	row, ok, err := only(rows, err, md.FieldLayout)
	return row.Offset, ok, err
}

// RVAOf returns the RVA of a field's initial value. It returns false if the field has no initial value.
func (md *Metadata) RVAOf(field uint32) (uint32, bool, error) {
	rows, err := md.byKey(TableFieldRVA, 1, field)
	row, ok, err := only(rows, err, md.FieldRVA)
	return row.RVA, ok, err
}

// ImplMapOf returns the native function to which a MethodDef or Field is bound. It returns false if it is not
// bound.
func (md *Metadata) ImplMapOf(member Token) (ImplMapRow, bool, error) {
	rows, err := md.byToken(TableImplMap, 1, member)
	return only(rows, err, md.ImplMap)
}

// LocalScopes returns the scopes of a method in a portable PDB, outermost first, by MethodDef rid.
func (md *Metadata) LocalScopes(method uint32) (RowRange, error) {
	return md.byKey(TableLocalScope, 0, method)
}

// LocalVariables returns the variables of a LocalScope row.
func (md *Metadata) LocalVariables(scope uint32) (RowRange, error) {
	return md.list(TableLocalScope, scope, 2)
}

// TypeSpecSig returns the signature of row rid of the TypeSpec table.
func (md *Metadata) TypeSpecSig(rid uint32) (TypeSig, error) {
	row, err := md.TypeSpec(rid)
	return parsed(md, row.Signature, err, ParseTypeSpec)
}

// LocalSig returns the types of the local variables in row rid of the StandAloneSig table.
func (md *Metadata) LocalSig(rid uint32) ([]TypeSig, error) {
	row, err := md.StandAloneSig(rid)
	return parsed(md, row.Signature, err, ParseLocalSig)
}

// MethodSig returns the signature of a method from the blob heap.
func (md *Metadata) MethodSig(i BlobIndex) (MethodSig, error) {
	return parsed(md, i, nil, ParseMethodSig)
}

// MethodSigOf returns the signature of the method that a token of a MethodDef, MemberRef or MethodSpec names (II.22.26, II.22.25, II.22.29). Of an
// instance of a generic method it is the signature of the method, without the arguments. Other tokens are target.ErrUnsupported.
func (md *Metadata) MethodSigOf(t Token) (MethodSig, error) {
	if t.Table() == TableMethodSpec {
		s, err := md.MethodSpec(t.Row())
		if err != nil {
			return MethodSig{}, err
		}
		t = s.Method
	}
	switch t.Table() {
	case TableMemberRef:
		m, err := md.MemberRef(t.Row())
		if err != nil {
			return MethodSig{}, err
		}
		return md.MethodSig(m.Signature)
	case TableMethodDef:
		m, err := md.MethodDef(t.Row())
		if err != nil {
			return MethodSig{}, err
		}
		return md.MethodSig(m.Signature)
	}
	return MethodSig{}, target.Unsupportedf("token %v names no method", t)
}

// parsed parses the signature blob i with parse, unless err says that its row was unreadable.
func parsed[T any](md *Metadata, i BlobIndex, err error, parse func([]byte) (T, error)) (sig T, _ error) {
	if err != nil {
		return sig, err
	}
	b, err := md.Blob(i)
	if err != nil {
		return sig, err
	}
	return parse(b)
}
