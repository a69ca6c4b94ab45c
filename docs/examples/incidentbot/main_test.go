package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/text"
)

func dump(name string) string {
	return filepath.Join("../../../testdata/dumps", name, filepath.Base(name)+".dmp.zst")
}

func describes(t *testing.T, name string) (string, error) {
	var b bytes.Buffer
	err := describe(t.Context(), &b, dump(name))
	assert.Zero(t, strings.Count(b.String(), "```")%2)
	return b.String(), err
}

func TestDescribe(t *testing.T) {
	got, err := describes(t, "net10-crash-nested")
	require.NoError(t, err)
	for _, want := range []string{"# Incident\n", "## What is wrong\n\n```text\n1 finding:\n", "## Crash\n\n```text\nReason:", "## Stacks\n\n```text\nOS Thread Id:", "OrderException"} {
		assert.Contains(t, got, want)
	}
}

// TestIncomplete describes a dump without a readable runtime.
func TestIncomplete(t *testing.T) {
	got, err := describes(t, "bare/net10-zoo-g23")
	require.ErrorIs(t, err, errPartly)
	assert.Equal(t, 2, strings.Count(got, "\nIncomplete: "), got)
	assert.Contains(t, got, "unknown whether the process had crashed")
	assert.Contains(t, got, "Secrets may be in this text")

	_, err = describes(t, "missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestMasks writes a page with a secret of the process.
func TestMasks(t *testing.T) {
	d, err := sosgo.Open(dump("web/web-net10"), sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	mask, err := v.Mask(t.Context())
	require.NoError(t, err)
	secrets, err := v.SecretValues(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, secrets)
	p, out := &page{}, &strings.Builder{}
	p.printf("the login with %s failed\n", secrets[0])
	require.NoError(t, p.write(out, mask))
	assert.Equal(t, "the login with <hidden> failed\n", out.String())
}

// TestFence checks that text of the dump does not end its block.
func TestFence(t *testing.T) {
	p := &page{}
	p.section("Title", nil, func(text.Options) error {
		p.body.WriteString("```\n# Heading\n````\n")
		return nil
	})
	assert.Equal(t, "## Title\n\n`````text\n```\n# Heading\n````\n`````\n\n", p.out.String())
}

func Example() {
	var b bytes.Buffer
	err := describe(context.Background(), &b, dump("net10-crash-nested"))
	heading, _, _ := strings.Cut(b.String(), "\n")
	fmt.Println(err, heading)
	// Output: <nil> # Incident
}
