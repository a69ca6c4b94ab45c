package dap_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestNeovim checks that Neovim with nvim-dap sees the same thread, frames and values as another client. The plugin
// is the folder NVIM_DAP or one that Neovim finds itself. No package registry offers it.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("there is no Neovim: apt-get install neovim, and name a folder of nvim-dap by NVIM_DAP")
	}
	args := []string{"--headless", "-u", "NONE", "-i", "NONE"}
	if folder := os.Getenv("NVIM_DAP"); folder != "" {
		args = append(args, "--cmd", "set runtimepath+="+folder)
	}
	probe := exec.Command(nvim, append(args, "-c", `lua io.stdout:write(pcall(require, "dap") and "there" or "missing")`, "-c", "qall!")...)
	if out, _ := probe.CombinedOutput(); !strings.Contains(string(out), "there") {
		t.Skip("Neovim has no nvim-dap: name its folder by NVIM_DAP")
	}
	d := testdump.Open(t, "net10-crash-nested").Plain()
	address, token := listen(t, d)
	answer := filepath.Join(t.TempDir(), "answer.json")
	const expression = "pe"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	editor := exec.CommandContext(ctx, nvim, append(args, "-c", "luafile testdata/neovim.lua")...)
	editor.Env = append(os.Environ(), "SOSGO_ADAPTER="+address, "SOSGO_TOKEN="+token, "SOSGO_DUMP="+d, "SOSGO_ANSWER="+answer, "SOSGO_EXPRESSION="+expression)
	said, err := editor.CombinedOutput()
	require.NoError(t, err, "%s", said)
	raw, err := os.ReadFile(answer)
	require.NoError(t, err, "%s", said)
	var got struct {
		Failed, Reason, Frame, Message string
		Thread, Threads                int
		Frames, Scopes                 []string
	}
	require.NoError(t, json.Unmarshal(raw, &got), "%s", raw)
	require.Empty(t, got.Failed)

	c, stopped := open(t, d, nil)
	assert.Equal(t, stopped.Body.Reason, got.Reason)
	assert.Equal(t, stopped.Body.ThreadId, got.Thread)
	assert.Len(t, c.threads(), got.Threads)
	var names []string
	frame := 0
	for _, f := range c.stack(stopped.Body.ThreadId, 0, 0) {
		names = append(names, f.Name)
		if f.Name == got.Frame && frame == 0 {
			frame = f.Id
		}
	}
	assert.Equal(t, names, got.Frames)
	require.NotZero(t, frame, got.Frame)
	assert.Contains(t, got.Scopes, "Exception")
	assert.Equal(t, c.evaluate(expression, "repl", frame).Result, got.Message)
	assert.Contains(t, got.Message, "OrderException")
}

// listen runs sosgo dap -listen over a dump and returns its address and token.
func listen(t *testing.T, dump string) (address, token string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cli.Main(ctx, []string{"-offline", "dap", "-listen", "127.0.0.1:0", dump}, strings.NewReader(""), io.Discard, w, env())
		w.Close()
	}()
	t.Cleanup(func() { cancel(); <-ended })
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	_, err = fmt.Sscanf(line, "sosgo: listening on %s token %s", &address, &token)
	require.NoError(t, err, line)
	return strings.TrimSuffix(address, ","), strings.TrimSuffix(token, ";")
}
