package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestAnswers: what a kept dump answers is what one answers that is opened for it.
func TestAnswers(t *testing.T) {
	s := &server{}
	for _, name := range []string{"net10-zoo", "net8-zoo", "win-net10-zoo", "sxs", "nativeaot-crash"} {
		path := testdump.Open(t, name).Path
		for _, c := range []string{"clrthreads", "clrstack", "setthread 1;;clrstack", "clrstack", "dumpheap -stat", "dumpobj 1000", "nothing"} {
			args := []string{"-d", path, "-offline", "-sos"}
			for l := range strings.SplitSeq(c, ";;") {
				args = append(args, "-c", l)
			}
			var stdout, stderr bytes.Buffer
			code := cli.Main(context.Background(), args, strings.NewReader(""), &stdout, &stderr, cli.Env{
				Commands: commands.All(), Open: commands.Open, Threads: commands.Threads, Limits: commands.Limits()})
			got := s.answer(args)
			assert.Equal(t, stdout.String(), string(got.Stdout), "%s: %s", name, c)
			assert.Equal(t, stderr.String(), string(got.Stderr), "%s: %s", name, c)
			assert.Equal(t, code, got.Code, "%s: %s", name, c)
		}
	}
	assert.Len(t, s.open, mostOpen)
}
