package agreement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const differences = "# Differences\n**First.** Why it differs.\n\n**Second cause.** Another one.\n"

func TestCauses(t *testing.T) {
	c, err := parseCauses("# comment\ndumpheap|eeheap | ^\\+Segment | First.\nnet10/a.txt | total | Second cause\n", differences)
	require.NoError(t, err)
	unknown, all := c.Unexplained(&Comparison{File: "corpus/net8/sos/b.txt", Commands: []string{"setthread 1", "EEHeap -gc"},
		Diff: []string{"@@ -1 +1 @@", "+Segment 1", "-total 3"}})
	require.Equal(t, 2, all)
	require.Equal(t, []string{"-total 3"}, unknown)
	require.Len(t, c.Unused(), 1)

	unknown, _ = c.Unexplained(&Comparison{File: "corpus/net10/sos/a.txt", Commands: []string{"gcroot 1"}, Diff: []string{"-total 3"}})
	require.Empty(t, unknown)
	require.Empty(t, c.Unused())

	_, err = parseCauses("dumpheap | x | Third", differences)
	require.ErrorContains(t, err, "no paragraph begins with Third")
	_, err = parseCauses("dumpheap | x", differences)
	require.Error(t, err)
	_, err = parseCauses("dumpheap | ( | First", differences)
	require.Error(t, err)
}
