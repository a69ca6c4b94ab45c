package crash

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// piece is a part of an address space.
type piece struct {
	at target.Addr
	b  []byte
}

func (m piece) View(a target.Addr, n int) ([]byte, bool) {
	if a < m.at || uint64(a-m.at)+uint64(n) > uint64(len(m.b)) {
		return nil, false
	}
	return m.b[a-m.at:][:n], true
}

func (m piece) Span(a target.Addr) []byte {
	b, _ := m.View(a, 1)
	if b == nil {
		return nil
	}
	return m.b[a-m.at:]
}

func (m piece) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.Span(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Err: target.ErrNotInDump}
	}
	return n, nil
}

// recordBytes returns an EXCEPTION_RECORD64.
func recordBytes(code, count uint32, nested uint64, params ...uint64) []byte {
	b := make([]byte, recordSize)
	binary.LittleEndian.PutUint32(b, code)
	binary.LittleEndian.PutUint64(b[recordNested:], nested)
	binary.LittleEndian.PutUint64(b[recordAddress:], 0x401000)
	binary.LittleEndian.PutUint32(b[recordNumParams:], count)
	for i, v := range params {
		binary.LittleEndian.PutUint64(b[recordParams+8*i:], v)
	}
	return b
}

func TestParametersHaveNames(t *testing.T) {
	for _, c := range []struct {
		code   uint32
		params []uint64
		names  []string
		words  []string
	}{
		{codeAccess, []uint64{1, 0}, []string{"access", "address"}, []string{"write", ""}},
		{codeAccess, []uint64{8, 0x10}, []string{"access", "address"}, []string{"execute", ""}},
		{codeInPage, []uint64{0, 0x7ff0, 0xc0000017}, []string{"access", "address", "status"}, []string{"read", "", "STATUS_NO_MEMORY"}},
		{codeStackBuffer, []uint64{7}, []string{"fail-fast code"}, []string{"FAST_FAIL_FATAL_APP_EXIT"}},
		{codeStackBuffer, []uint64{10}, []string{"fail-fast code"}, []string{"FAST_FAIL_GUARD_ICALL_CHECK_FAILURE"}},
		{codeStackBuffer, []uint64{57}, []string{"fail-fast code"}, []string{"FAST_FAIL_CONTROL_INVALID_RETURN_ADDRESS"}},
		{codeStackBuffer, []uint64{72, 1, 2, 3}, []string{"fail-fast code", "", "", ""}, []string{"FAST_FAIL_CLR_EXCEPTION_AOT", "", "", ""}},
		{codeStackBuffer, []uint64{1 << 40}, []string{"fail-fast code"}, []string{""}},
		{codeCPP, []uint64{0x19930520, 1, 2, 3}, []string{"magic number", "object", "throw information", "image base"}, []string{"", "", "", ""}},
		{codeCLR, []uint64{0x80131600, 0, 0, 0, 0x1600000}, []string{"HRESULT", "", "", "", "base of the runtime"}, []string{"", "", "", "", ""}},
		{0x12345678, []uint64{5}, []string{""}, []string{""}},
	} {
		d := describeExceptionRecord(&target.Exception{Code: c.code, Parameters: c.params})
		var names, words []string
		for i, p := range d.Parameters {
			assert.Equal(t, answer.Hex(c.params[i]), p.Value)
			names, words = append(names, p.Name), append(words, p.Words)
		}
		assert.Equal(t, c.names, names)
		assert.Equal(t, c.words, words)
	}
}

func TestTouchedBy(t *testing.T) {
	for _, c := range []struct {
		x      target.Exception
		at     target.Addr
		access string
		ok     bool
	}{
		{target.Exception{Code: codeAccess, Parameters: []uint64{1, 0}}, 0, "write", true},
		{target.Exception{Code: codeAccess, Parameters: []uint64{1}}, 0, "", false},
		{target.Exception{Code: codeCLR, Parameters: []uint64{1, 2}}, 0, "", false},
		{target.Exception{Signal: &target.Signal{Number: 11, Known: true, Code: 1}}, 0, "", true},
		{target.Exception{Signal: &target.Signal{Number: 11, Known: true}}, 0, "", false},
		{target.Exception{Signal: &target.Signal{Number: 8, Known: true, Code: 1, Address: 5}}, 5, "", false},
	} {
		at, access, ok := touchedBy(&c.x)
		assert.Equal(t, c.ok, ok)
		assert.Equal(t, c.at, at)
		assert.Equal(t, c.access, access)
	}
}

func TestNestedRecords(t *testing.T) {
	m := piece{at: 0x5000, b: append(recordBytes(codeAccess, 2, 0x5000+recordSize, 1, 0x10), recordBytes(codeCPP, 1, 0, 7)...)}
	list, err := nestedRecords(m, &target.Exception{Record: 0x5000})
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []uint64{1, 0x10}, list[0].Parameters)
	assert.EqualValues(t, 0x401000, list[0].Address)
	assert.EqualValues(t, uint32(codeCPP), list[1].Code)

	m.b = recordBytes(codeAccess, 0, 0x5000)
	list, err = nestedRecords(m, &target.Exception{Record: 0x5000})
	assert.ErrorIs(t, err, target.ErrCorrupt, "it follows from itself")
	assert.Len(t, list, 1)

	m.b = recordBytes(codeAccess, 16, 0)
	_, err = nestedRecords(m, &target.Exception{Record: 0x5000})
	assert.ErrorIs(t, err, target.ErrCorrupt, "more parameters than there can be")

	_, err = nestedRecords(m, &target.Exception{Record: 0x9000})
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

// TestHRESULT checks that the HRESULT of a managed exception has 32 bits. Windows sign-extends it.
func TestHRESULT(t *testing.T) {
	d := describeExceptionRecord(&target.Exception{Code: codeCLR, Parameters: []uint64{0xffffffff80131509}})
	assert.Equal(t, answer.ExceptionParameter{Name: "HRESULT", Value: 0x80131509}, d.Parameters[0])
}
