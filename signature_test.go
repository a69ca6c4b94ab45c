package sosgo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSignatureRules signs a crash by the default rules, by their text, and by a text that is no rules.
func TestSignatureRules(t *testing.T) {
	v, err := testdump.Open(t, "net10-crash-nested").View("")
	require.NoError(t, err)
	ask := func(rules string) (string, error) {
		s, err := v.Summary(t.Context(), sosgo.SummaryOptions{NoHeap: true, Rules: rules})
		if err != nil {
			return "", err
		}
		return s.Signature, nil
	}
	own, err := ask("")
	require.NoError(t, err)
	require.NotEmpty(t, own)
	same, err := ask(sosgo.SignatureRules())
	require.NoError(t, err)
	assert.Equal(t, own, same)
	_, err = ask("these are no rules")
	assert.ErrorIs(t, err, sosgo.ErrArgument)
}
