package image_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// TestFitMappings: a file fits where each range that was mapped is a part of it at
// that place, flat or laid out.
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

// TestFitNothing: where no word was relocated, nothing is proved, and nothing is
// refused.
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

// FuzzFitFile: a file that is no image, or a damaged one, ends in an error or a fit.
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
