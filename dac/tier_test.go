package dac

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestTierBeforeCompiling checks that a method with a loop counts as quickly compiled before its compilation:
// only the compiler notices the loop.
func TestTierBeforeCompiling(t *testing.T) {
	rt := openCanned(t, "net31-zoo", func(m target.Memory) target.Memory { return m }, nil)
	r := CodeOf(rt)
	c, err := r.members()
	require.NoError(t, err)
	loops := 0
	for m, v := range onlyVersions(t, r) {
		if v.Code != 0 || !c.tiered.isSet(m) {
			continue
		}
		assert.Equal(t, TierQuickJitted, v.Tier, "%v", m.Addr)
		if then, _ := r.firstTier(m); then == TierOptimized {
			loops++
		}
	}
	assert.NotZero(t, loops)
}

// TestTierOfTailCalls checks that the first code of a method with an explicit tail call is optimized (F# has
// such calls; no program of the corpus does).
func TestTierOfTailCalls(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			var mem testcase.Overlay
			mem.Set()
			rt := openCanned(t, name, func(m target.Memory) target.Memory { mem.Memory = m; return &mem }, nil)
			r := CodeOf(rt)
			m, il := quickMethod(t, r)
			tier := func() Tier {
				versions, err := r.CodeVersions(m)
				require.NoError(t, err)
				require.Len(t, versions, 1)
				return versions[0].Tier
			}
			require.Equal(t, TierQuickJitted, tier())
			code := il.Addr + target.Addr(il.Header)
			mem.Set(testcase.Damage{At: code, Bytes: []byte{0xfe, 0x14}})
			assert.Equal(t, TierOptimized, tier())
			mem.Set(testcase.Damage{At: code, Bytes: []byte{0xfe, 0x16}}) // constrained. is another prefix
			assert.Equal(t, TierQuickJitted, tier())
		})
	}
}

// ilAt locates IL in memory, with the length of its header.
type ilAt struct {
	Addr   target.Addr
	Header int
}

// quickMethod finds a quickly compiled method with at least 8 bytes of IL.
func quickMethod(t *testing.T, r *CodeReader) (*MethodDesc, ilAt) {
	for m, v := range onlyVersions(t, r) {
		if v.Code == 0 || v.Tier != TierQuickJitted {
			continue
		}
		at, err := r.ILAddress(m)
		body, err2 := r.IL(m)
		if err != nil || err2 != nil || len(body.Code) < 8 {
			continue
		}
		head, err := target.Bytes(r.mem, at, 1)
		if err != nil {
			continue // from a file
		}
		if header := map[byte]int{ilTiny: 1, 3: ilFatHeader}[head[0]&ilFormatMask]; header > 0 {
			return m, ilAt{at, header}
		}
	}
	t.Fatal("no method was compiled quickly")
	return nil, ilAt{}
}

// onlyVersions iterates over the methods of all modules with a single version of their code.
func onlyVersions(t *testing.T, r *CodeReader) iter.Seq2[*MethodDesc, *CodeVersion] {
	modules, err := r.rt.KnownModules()
	require.NoError(t, err)
	return func(yield func(*MethodDesc, *CodeVersion) bool) {
		for _, mod := range modules {
			for e, err := range mod.Entries(MapMethodDef) {
				if err != nil {
					continue
				}
				m, err := r.TrustedMethodDesc(e.Value)
				if err != nil {
					continue
				}
				if versions, err := r.CodeVersions(m); err == nil && len(versions) == 1 && !yield(m, &versions[0]) {
					return
				}
			}
		}
	}
}
