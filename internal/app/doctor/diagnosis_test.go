package doctor_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

func TestParts(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	g := doctor.Of(v.Process, doctor.Options{})
	require.Len(t, g.Runtimes, len(d.Runtimes()))
	assert.True(t, g.Runtimes[0].Chosen)
	assert.NotEmpty(t, g.Runtimes[0].Probes)
	require.Len(t, g.Parts, 4)
	order := []answer.Part{answer.PartHeap, answer.PartStacks, answer.PartMetadata, answer.PartCode}
	for i, p := range g.Parts {
		assert.Equal(t, order[i], p.Part)
		assert.NotEmpty(t, p.Detail, p.Part)
	}
	assert.NotEqual(t, answer.PartMissing, g.Parts[0].State)
}

// TestWithoutRuntime checks that facts that need no runtime are reported without one.
func TestWithoutRuntime(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	v, err := d.View("99")
	require.Error(t, err)
	g := doctor.Of(v.Process, doctor.Options{})
	assert.Empty(t, g.Parts)
	assert.NotZero(t, g.Stored)
	require.NotEmpty(t, g.Runtimes)
	assert.False(t, g.Runtimes[0].Chosen)
}

// TestEmittedAdvice: a larger dump is not advised for modules made by Reflection.Emit of a runtime in which their metadata has no known place.
func TestEmittedAdvice(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net8-stacks-triage"), func(t *testing.T, c *testdump.Dump) int {
		v, err := c.View("")
		require.NoError(t, err)
		g := doctor.Of(v.Process, doctor.Options{})
		i := slices.IndexFunc(g.Parts, func(p answer.PartDiagnosis) bool { return p.Part == answer.PartMetadata })
		require.GreaterOrEqual(t, i, 0)
		assert.Empty(t, g.Parts[i].Advice)
		assert.Contains(t, g.Parts[i].Detail, "a module made by Reflection.Emit can't be read")
		return 1
	})
}
