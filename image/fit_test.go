package image_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// TestFitMappings: a file fits if each mapped range is a part of it at that place, in a flat and in
// a loaded image.
func TestFitMappings(t *testing.T) {
	text := target.Mapping{Start: testBase + peTextRVA, End: testBase + peTextRVA + 0x1000, Offset: peTextOff &^ 0xfff}
	for name, c := range map[string]struct {
		maps []target.Mapping
		fits bool
	}{
		"as a whole":         {[]target.Mapping{{Start: testBase, End: testBase + (peFileSize+0xfff)&^0xfff}}, true},
		"of a larger file":   {[]target.Mapping{{Start: testBase, End: testBase + 1<<20}}, false},
		"beyond its end":     {[]target.Mapping{{Start: testBase, End: testBase + 0x1000, Offset: 1 << 20}}, false},
		"at another address": {[]target.Mapping{{Start: testBase, End: testBase + 0x1000}, {Start: text.Start + 0x5000, End: text.End + 0x5000, Offset: text.Offset}}, false},
		"nothing is said":    {nil, true},
	} {
		fit, err := peFile(t).FitFile(memory(nil, testBase), &target.Module{Base: testBase, Mappings: c.maps})
		if c.fits {
			assert.NoError(t, err, name)
			assert.Equal(t, len(c.maps), fit.Mappings, name)
		} else {
			assert.ErrorIs(t, err, image.ErrMismatch, name)
		}
		assert.False(t, fit.Proves(), "%s: ranges alone prove nothing", name)
	}
}

// TestFitNothing: without relocated words nothing is proved, and nothing contradicts.
func TestFitNothing(t *testing.T) {
	im, err := image.NewBytes(buildELF(true, 0), image.Flat)
	require.NoError(t, err)
	fit, err := im.FitFile(memory(nil, testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	assert.Zero(t, fit.Words)
	assert.False(t, fit.Proves())
	loaded, err := image.OpenMemory(elfMemory(buildELF(true, 0), testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	_, err = loaded.FitFile(nil, &target.Module{})
	assert.ErrorIs(t, err, target.ErrUnsupported, "not a file")
}

// FuzzFitFile: a damaged file yields an error or a fit.
func FuzzFitFile(f *testing.F) {
	f.Add([]byte(buildPE()))
	f.Add([]byte(buildELF(true, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := image.NewBytes(b, image.Flat)
		if err != nil {
			return
		}
		m := &target.Module{Base: testBase, Mappings: []target.Mapping{{Start: testBase, End: testBase + 0x1000}}}
		fit, err := im.FitFile(memory(blob(b), testBase), m)
		if err == nil && fit.Same > fit.Words {
			t.Errorf("%+v", fit)
		}
	})
}

// TestFitGap: the loader leaves pages of its first mapping between the extents of a library that
// are 64 KB apart.
func TestFitGap(t *testing.T) {
	// The second extent is mapped 64 KB after its offset in the file.
	const text, data, shift = 0x11084, 0x11b20, 0x10000
	raw := make([]byte, data+0x100)
	copy(raw, "\x7fELF\x02\x01\x01")
	word := binary.LittleEndian
	word.PutUint16(raw[16:], 3)   // ET_DYN
	word.PutUint16(raw[18:], 183) // EM_AARCH64
	word.PutUint32(raw[20:], 1)
	word.PutUint64(raw[32:], 64) // program headers
	word.PutUint16(raw[52:], 64)
	word.PutUint16(raw[54:], 56)
	word.PutUint16(raw[56:], 2)
	for i, part := range [][4]uint64{{0, 0, text, text}, {data, data + shift, 0x100, 0x200}} {
		h := raw[64+56*i:]
		word.PutUint32(h, 1) // PT_LOAD
		word.PutUint32(h[4:], 4)
		word.PutUint64(h[8:], part[0])
		word.PutUint64(h[16:], part[1])
		word.PutUint64(h[32:], part[2])
		word.PutUint64(h[40:], part[3])
		word.PutUint64(h[48:], shift)
	}
	im, err := image.NewBytes(raw, image.Flat)
	require.NoError(t, err)
	parts := []target.Mapping{{Start: testBase, End: testBase + 0x12000}, {Start: testBase + 0x21000, End: testBase + 0x22000, Offset: 0x11000}}
	for name, c := range map[string]struct {
		gap  target.Mapping
		fits bool
	}{
		"the pages between":      {target.Mapping{Start: testBase + 0x12000, End: testBase + 0x21000, Offset: 0x12000}, true},
		"some of them":           {target.Mapping{Start: testBase + 0x13000, End: testBase + 0x14000, Offset: 0x13000}, true},
		"of another offset":      {target.Mapping{Start: testBase + 0x12000, End: testBase + 0x21000, Offset: 0x11000}, false},
		"a page of the second":   {target.Mapping{Start: testBase + 0x12000, End: testBase + 0x22000, Offset: 0x12000}, false},
		"pages behind all parts": {target.Mapping{Start: testBase + 0x40000, End: testBase + 0x41000, Offset: 0x10000}, false},
	} {
		_, err := im.FitFile(memory(nil, testBase), &target.Module{Base: testBase, Mappings: append(slices.Clone(parts), c.gap)})
		if c.fits {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorIs(t, err, image.ErrMismatch, name)
		}
	}
}
