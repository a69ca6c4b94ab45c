package ondumps_test

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// symbolFiles holds files with symbols: the module's own, and the one split off from it.
type symbolFiles struct{ own, split *image.Image }

func (f symbolFiles) File(*target.Module, *image.Image) (*image.Image, error) {
	if f.own == nil {
		return nil, target.ErrNotInDump
	}
	return f.own, nil
}

func (f symbolFiles) DebugFile(*target.Module) (*image.Image, error) {
	if f.split == nil {
		return nil, target.ErrNotInDump
	}
	return f.split, nil
}

// elfWith returns an ELF file with one segment of that size and symbols.
func elfWith(t *testing.T, size uint64, symbols map[uint64]string) *image.Image {
	const ehdr, phdr, shdr = 64, 56, 64
	var syms, strs bytes.Buffer
	syms.Write(make([]byte, 24))
	strs.WriteByte(0)
	for at, name := range symbols {
		b := make([]byte, 24)
		binary.LittleEndian.PutUint32(b, uint32(strs.Len()))
		b[4], b[6] = 2, 1 // a function, in section 1
		binary.LittleEndian.PutUint64(b[8:], at)
		binary.LittleEndian.PutUint64(b[16:], 16)
		syms.Write(b)
		strs.WriteString(name + "\x00")
	}
	b := make([]byte, ehdr+phdr+3*shdr)
	le := binary.LittleEndian
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 3)  // ET_DYN
	le.PutUint16(b[18:], 62) // x86-64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], ehdr)
	le.PutUint64(b[40:], ehdr+phdr)
	for at, v := range map[int]uint16{52: ehdr, 54: phdr, 56: 1, 58: shdr, 60: 3, 62: 2} {
		le.PutUint16(b[at:], v)
	}
	p := b[ehdr:]
	le.PutUint32(p, 1) // PT_LOAD
	le.PutUint32(p[4:], 5)
	le.PutUint64(p[32:], uint64(len(b)))
	le.PutUint64(p[40:], size)
	le.PutUint64(p[48:], 0x1000)
	section := func(i int, kind uint32, off, n uint64, link uint32) {
		h := b[ehdr+phdr+i*shdr:]
		le.PutUint32(h[4:], kind)
		le.PutUint64(h[24:], off)
		le.PutUint64(h[32:], n)
		le.PutUint32(h[40:], link)
	}
	section(1, 2, uint64(len(b)), uint64(syms.Len()), 2)
	section(2, 3, uint64(len(b)+syms.Len()), uint64(strs.Len()), 0)
	b = append(append(b, syms.Bytes()...), strs.Bytes()...)
	img, err := image.OpenSource("aot", target.BytesSource(b))
	require.NoError(t, err)
	return img
}

// TestNativeSymbols checks that types and methods without names in the metadata are named by symbols of the
// program's file or of the split-off file. Names in the metadata come first.
func TestNativeSymbols(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash")
	known := d.Runtimes()[0]
	rt, err := known.Open()
	require.NoError(t, err)
	var orders []target.Addr
	for mt, err := range rt.TypesNamed("Order", "") {
		require.NoError(t, err)
		orders = append(orders, mt)
	}
	require.Len(t, orders, 1)
	threads, err := rt.Threads()
	require.NoError(t, err)
	var thrown target.Addr
	for i := range threads {
		thrown = max(thrown, threads[i].LastThrown)
	}
	exception, err := dac.CodeOf(rt).DescribeException(thrown, dac.ExceptionOptions{})
	require.NoError(t, err)
	require.Len(t, exception.Frames, 3)
	last := exception.Frames[2]
	require.ErrorIs(t, last.Method.Err, target.ErrUnsupported, "code that the compiler made")
	base := known.Module.Base
	symbol := "_ZTV" + strconv.Itoa(len("aot_Order")) + "aot_Order"
	at := uint64(last.IP-base) - *last.Offset
	file := elfWith(t, known.Module.Size, map[uint64]string{at: "aot__Module___StartupCodeMain", uint64(orders[0] - base): symbol})
	for name, files := range map[string]symbolFiles{"own": {own: file}, "split": {split: file}, "stripped": {own: elfWith(t, known.Module.Size, nil), split: file}} {
		t.Run(name, func(t *testing.T) {
			inst := dac.Find(d.Target(), d.Memory(), files)[0]
			rt, err := inst.Open()
			require.NoError(t, err)
			m, err := dac.CodeOf(rt).NativeAt(last.IP - 1)
			require.NoError(t, err)
			assert.Equal(t, "<Module>.StartupCodeMain", m.Name)
			typeName, err := rt.TypeName(orders[0], dac.NameManaged)
			require.NoError(t, err)
			assert.Equal(t, "Order", typeName)
		})
	}

	// Without the map of types only the symbol names the type, and its underscores stay.
	bare := d.Damaged(t, testdump.Damage{At: typeMapRow(t, d, known), Bytes: []byte{0xff}})
	inst := dac.Find(bare.Target(), bare.Memory(), symbolFiles{own: file})[0]
	rt, err = inst.Open()
	require.NoError(t, err)
	name, err := rt.TypeName(orders[0], dac.NameManaged)
	require.NoError(t, err)
	assert.Equal(t, "aot_Order", name)
}

// typeMapRow returns the address of the row of the map of types in the program's header.
func typeMapRow(t *testing.T, d *testdump.Dump, inst *dac.Instance) target.Addr {
	const signature, rows, rowSize, typeMap = 0x00525452, 16, 24, 301
	for at := inst.Module.Base; inst.Module.Contains(at); at += 8 {
		if v, err := target.Uint32(d.Memory(), at); err != nil || v != signature {
			continue
		}
		for row := at + rows; ; row += rowSize {
			kind, err := target.Uint32(d.Memory(), row)
			if err != nil || kind > 400 {
				break
			}
			if kind == typeMap {
				return row
			}
		}
	}
	t.Fatal("the program has no map of types")
	return 0
}
