package stresslog

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

type noNames struct{}

func (noNames) Method(target.Addr) (string, error) { return "", errors.New("no names") }
func (noNames) Code(target.Addr) (string, error)   { return "libx.so!f+0x4", nil }

type noMemory struct{}

func (noMemory) ReadMemory([]byte, target.Addr) (int, error) { return 0, target.ErrNotInDump }
func (noMemory) View(target.Addr, int) ([]byte, bool)        { return nil, false }
func (noMemory) Span(target.Addr) []byte                     { return nil }

// logWith returns a log that has a text at address 1, and "word" at 2.
func logWith(s string) *Log {
	noType := func(target.Addr, dac.NameStyle) (string, error) { return "", target.ErrNotInDump }
	l := &Log{mem: noMemory{}, typeName: noType, names: noNames{}, strings: map[target.Addr]text{1: {s: s}, 2: {s: "word"}}}
	l.off.Message.Size = 16
	return l
}

func TestFormat(t *testing.T) {
	minus := uint64(math.MaxUint64) // -1
	for _, c := range []struct {
		format, want string
		args         []uint64
	}{
		{"plain\r\n", "plain", nil},
		{"%d %u %x %X %o", "-1 4294967295 ffffffff FFFFFFFF 37777777777", []uint64{minus, minus, minus, minus, minus}},
		{"%ld %lld %I64d %zx %hd %hhu", "-1 -1 -1 ffffffffffffffff -1 255", []uint64{minus, minus, minus, minus, minus, minus}},
		{"[%5d][%-5d][%05d][%+d][%.3d][%05.1f]", "[    7][7    ][00007][+7][007][001.5]", []uint64{7, 7, 7, 7, 7, math.Float64bits(1.5)}},
		{"[%*d][%-*d][%.*s]", "[  7][7  ][wo]", []uint64{3, 7, 3, 7, 2, 2}},
		{"[%05d][%5.3d]", "[-0007][ -007]", []uint64{uint64(0xffff_fff9), uint64(0xffff_fff9)}},
		{"%#x %#x", "0x1f 0", []uint64{31, 0}},
		{"%p|%pK|%pV|%pM|%pT", "0000000000000010|0000000000000010 (libx.so!f+0x4)|0000000000000010 (libx.so!f+0x4)|0000000000000010|0000000000000010", []uint64{16, 16, 16, 16, 16}},
		{"%c%c 100%%", "ok 100%", []uint64{'o', 'k'}},
		{"%s", "(null)", []uint64{0}},
		{"%s", "<text at 0000000000000099>", []uint64{0x99}},
		{"%d and %d", "1 and %d", []uint64{1}},
		{"%y %", "%y %", []uint64{1}},
		{"%g", "1.5", []uint64{math.Float64bits(1.5)}},
	} {
		got, err := logWith(c.format).format(1, c.args)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.format)
	}
	_, err := logWith("").format(0, nil)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestFacilities(t *testing.T) {
	assert.Equal(t, []string{"GC", "GCROOTS", "ALWAYS"}, Facilities(0x80080001))
	assert.Equal(t, []string{"ALL"}, Facilities(math.MaxUint32))
	assert.Empty(t, Facilities(0))
}

func FuzzFormat(f *testing.F) {
	f.Add("%-08.3I64d %pM %s %*x %%", uint64(7), uint64(1))
	f.Add("%.*S%", uint64(1<<40), uint64(0))
	f.Fuzz(func(t *testing.T, format string, a, b uint64) {
		text, err := logWith(format).format(1, []uint64{a, b, a, b})
		if err != nil {
			t.Fatal(err)
		}
		if limit := len(format) + 4*(2*maxWidth+len(format)+400); len(text) > limit {
			t.Fatalf("%d bytes of text from a format of %d", len(text), len(format))
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 1|1<<32), 5), 7))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, chunk []byte) {
		th := &threadLog{log: logWith("%d"), bytes: chunk, end: uint64(len(chunk))}
		n := 0
		for err := th.next(); th.has; err = th.next() {
			if err != nil {
				t.Fatal(err)
			}
			n++
			_ = th.log.describe(th)
		}
		if n > len(chunk)/16 {
			t.Fatalf("%d messages in %d bytes", n, len(chunk))
		}
	})
}
