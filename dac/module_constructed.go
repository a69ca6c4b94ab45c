package dac

import (
	"encoding/binary"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ConstructedTypes iterates over the TypeHandles of the arrays, pointers and generic instances in the module's
// EETypeHashTable (typehash.h). A generic instance is in the table of the last loaded module that it depends
// on. It yields an error for an unreadable chain and continues.
func (m *Module) ConstructedTypes() iter.Seq2[target.Addr, error] {
	return func(yield func(target.Addr, error) bool) {
		buckets, n, left, err := m.typeBuckets()
		if err != nil {
			yield(0, err)
			return
		}
		for i := range n {
			if !m.typeChain(buckets+target.Addr(8*i), &left, yield) {
				return
			}
		}
	}
}

// typeSlack is the number of entries that a table may have beyond its count: the runtime links an entry before
// it counts.
const typeSlack = 64

// typeBuckets finds the buckets of the module's table of constructed types, and the number of entries in them.
func (m *Module) typeBuckets() (at target.Addr, n uint64, entries int, err error) {
	r, o := m.r, &m.r.off.TypeHash
	table, err := r.ptr(m.Addr, r.off.Module.Constructed, "Module.AvailableTypeParams")
	if err != nil || table == 0 {
		return 0, 0, 0, err
	}
	rd := layout.Reader{Mem: r.mem, Base: table}
	if o.Buckets != layout.Absent {
		at = rd.Ptr(o.Buckets)
		if rd.Err == nil && at != 0 {
			// The table starts with special slots (dacenumerablehash.h): the number of buckets, the table that
			// replaces this one while it grows, and the first end mark if chains end with a mark instead of
			// zero.
			b := layout.Reader{Mem: r.mem, Base: at}
			n = b.U64(0)
			at += 16
			if b.U64(16)&1 != 0 {
				at += 8
			}
			rd.Err = b.Err
		}
	} else {
		at, n = rd.Ptr(o.WarmBuckets), uint64(rd.U32(o.WarmBucketCount))
	}
	entries = int(min(uint64(rd.U32(o.Count))+typeSlack, limits.ConstructedTypes))
	if rd.Err != nil || at == 0 {
		return 0, 0, 0, rd.Err
	}
	if n > limits.ConstructedTypes {
		return 0, 0, 0, target.Corruptf("table of constructed types with %d buckets", n)
	}
	return at, n, entries, nil
}

// typeChain yields the entries of one bucket. A chain ends with zero or, since .NET 8, with an odd number.
func (m *Module) typeChain(bucket target.Addr, left *int, yield func(target.Addr, error) bool) bool {
	o := &m.r.off.TypeHash
	entry, err := target.Pointer(m.r.mem, bucket)
	for chain := (cycle{}); err == nil && entry != 0 && entry&1 == 0; {
		if *left--; *left < 0 || chain.closes(entry) {
			return yield(0, target.Corruptf("table of constructed types of module %016x has no end", uint64(m.Addr)))
		}
		rd := layout.Reader{Mem: m.r.mem, Base: entry}
		th := rd.Ptr(o.Value) &^ 1 // bit 0 is an obsolete mark of native images
		next := rd.Ptr(o.Next)
		if rd.Err != nil {
			return yield(0, rd.Err)
		}
		if !yield(th, nil) {
			return false
		}
		entry = next
	}
	return err == nil || yield(0, err)
}

// A constructedIndex finds constructed types by the key from constructedKey.
type constructedIndex struct {
	types   map[string]target.Addr
	missing error // why some types are not in the index, nil if all are
}

// find returns the type with a key, or 0 if it is not loaded. If the index is incomplete it returns the reason
// instead of 0.
func (x *constructedIndex) find(key []byte) (target.Addr, error) {
	if th := x.types[string(key)]; th != 0 {
		return th, nil
	}
	return 0, x.missing
}

// constructed builds the index of all modules.
func (r *Runtime) constructed() *constructedIndex {
	idx, _ := r.built.Get(func() (*constructedIndex, error) {
		idx := &constructedIndex{types: map[string]target.Addr{}}
		modules, err := r.KnownModules()
		idx.missing = err
		var key []byte
		for _, m := range modules {
			for th, err := range m.ConstructedTypes() {
				if err == nil {
					key, err = r.constructedKey(key[:0], th)
				}
				if err != nil {
					idx.noteMissing(err)
				} else if _, have := idx.types[string(key)]; !have {
					idx.types[string(key)] = th
				}
			}
		}
		return idx, nil
	})
	return idx
}

// noteMissing records the first reason for a type missing from the index.
func (x *constructedIndex) noteMissing(err error) {
	if x.missing == nil {
		x.missing = err
	}
}

// constructedKey appends the form and the parts of the type th. They identify it.
func (r *Runtime) constructedKey(key []byte, th target.Addr) ([]byte, error) {
	if th&2 != 0 {
		rd := layout.Reader{Mem: r.mem, Base: th &^ 2}
		et := metadata.ElementType(rd.U32(r.off.TypeDesc.TypeAndFlags))
		arg := rd.Ptr(r.off.ParamTypeDesc.TypeArg)
		if rd.Err != nil {
			return key, rd.Err
		}
		rank, err := r.typeDescRank(et, th)
		return elementKey(key, et, rank, arg), err
	}
	mt, err := r.TrustedMethodTable(th)
	if err != nil {
		return key, err
	}
	if mt.IsArray() {
		rank, err := r.ArrayRank(mt)
		et := metadata.ElementArray
		if mt.Category() == CategorySZArray {
			et = metadata.ElementSZArray
		}
		return elementKey(key, et, rank, mt.PerInstInfo), err
	}
	home, err := mt.ModuleAddr()
	if err != nil {
		return key, err
	}
	args, err := r.TypeArguments(mt)
	return instanceKey(key, home, mt.Token, args), err
}

// typeDescRank returns the rank of an array with a TypeDesc, 0 for other types.
func (r *Runtime) typeDescRank(et metadata.ElementType, th target.Addr) (int, error) {
	switch et {
	case metadata.ElementSZArray:
		return 1, nil
	case metadata.ElementArray:
		a, err := r.TypeHandleMethodTable(th)
		if err != nil || a == 0 {
			return 0, err
		}
		mt, err := r.TrustedMethodTable(a)
		if err != nil {
			return 0, err
		}
		return r.ArrayRank(mt)
	}
	return 0, nil
}

// TypeHandleMethodTable returns the MethodTable of the type's objects. That is th itself, or the shared
// MethodTable of an array with a TypeDesc (before .NET 5). It returns 0 for pointers, type parameters and other
// types without objects.
func (r *Runtime) TypeHandleMethodTable(th target.Addr) (target.Addr, error) {
	if th&2 == 0 {
		return th, nil
	}
	rd := layout.Reader{Mem: r.mem, Base: th &^ 2}
	et := metadata.ElementType(rd.U32(r.off.TypeDesc.TypeAndFlags))
	if rd.Err != nil || et != metadata.ElementSZArray && et != metadata.ElementArray {
		return 0, rd.Err
	}
	mt := rd.Ptr(r.off.ParamTypeDesc.TemplateMT)
	return mt, rd.Err
}

func elementKey(key []byte, et metadata.ElementType, rank int, elem target.Addr) []byte {
	return binary.LittleEndian.AppendUint64(append(key, byte(et), byte(rank)), uint64(elem))
}

func instanceKey(key []byte, module target.Addr, token metadata.Token, args []target.Addr) []byte {
	key = binary.LittleEndian.AppendUint64(append(key, byte(metadata.ElementGenericInst)), uint64(module))
	key = binary.LittleEndian.AppendUint32(key, uint32(token))
	for _, a := range args {
		key = binary.LittleEndian.AppendUint64(key, uint64(a))
	}
	return key
}
