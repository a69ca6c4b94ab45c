package diagport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// The bytes below follow the published protocol, not the code of this package: a header of 20 bytes with its text, the
// size of the whole message, set and number of the command and two zeros; strings with the number of UTF-16 units
// including a final NUL.
const (
	header  = "DOTNET_IPC_V1\x00"
	ok      = "\xff\x00\x00\x00"
	refused = "\xff\xff\x00\x00"
)

// wire makes a message of a command with its reserved bytes.
func wire(command, payload string) string {
	return header + string(binary.LittleEndian.AppendUint16(nil, uint16(20+len(payload)))) + command + payload
}

// wide makes a string of the protocol.
func wide(s string) string {
	var b strings.Builder
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s)+1)))
	for _, c := range s + "\x00" {
		b.WriteString(string(byte(c)) + "\x00")
	}
	return b.String()
}

const (
	pid    = "\x2a\x00\x00\x00\x00\x00\x00\x00"
	cookie = "0123456789abcdef"
)

// serve returns a client of a fake server, which answers each connection by answer, given the command.
func serve(t *testing.T, answer func(command string, payload []byte) string) *Client {
	return &Client{Dial: func(context.Context) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			head := make([]byte, 20)
			if _, err := io.ReadFull(there, head); err != nil {
				return
			}
			assert.Equal(t, header, string(head[:14]))
			assert.Equal(t, "\x00\x00", string(head[18:]))
			payload := make([]byte, int(binary.LittleEndian.Uint16(head[14:]))-20)
			if _, err := io.ReadFull(there, payload); err == nil {
				_, _ = io.WriteString(there, answer(string(head[16:18]), payload)) // a client may hang up
			}
		}()
		return here, nil
	}}
}

// TestInfo asks servers of all ages: each knows the forms of its time.
func TestInfo(t *testing.T) {
	first := pid + cookie + wide("/app/dotnet /app/x.dll") + wide("Linux") + wide("x64")
	second := first + wide("x") + wide("8.0.1")
	third := "\x01\x00\x00\x00" + second + wide("linux-musl-x64")
	unknown := wire(refused, "\x85\x13\x13\x80")
	for name, c := range map[string]struct {
		forms map[string]string
		want  Info
	}{
		"first":  {map[string]string{"\x04\x00": first}, Info{}},
		"second": {map[string]string{"\x04\x00": first, "\x04\x04": second}, Info{Entry: "x", Version: "8.0.1"}},
		"third":  {map[string]string{"\x04\x08": third}, Info{Entry: "x", Version: "8.0.1", Platform: "linux-musl-x64"}},
		"later":  {map[string]string{"\x04\x08": "\x02" + third[1:] + "more"}, Info{Entry: "x", Version: "8.0.1", Platform: "linux-musl-x64"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := serve(t, func(command string, payload []byte) string {
				assert.Empty(t, payload)
				if form, ok := c.forms[command]; ok {
					return wire("\xff\x00\x00\x00", form)
				}
				return unknown
			})
			got, err := client.Info(t.Context())
			require.NoError(t, err)
			want := c.want
			want.PID, want.CommandLine, want.OS, want.Arch = 42, "/app/dotnet /app/x.dll", "Linux", "x64"
			copy(want.Cookie[:], cookie)
			assert.Equal(t, &want, got)
		})
	}
}

// TestDump sends the path, the kind and no flags, and falls back to older forms of the command.
func TestDump(t *testing.T) {
	var sent []string
	client := serve(t, func(command string, payload []byte) string {
		sent = append(sent, command+string(payload))
		if command == "\x01\x01" {
			return wire(ok, "\x00\x00\x00\x00")
		}
		return wire(refused, "\x85\x13\x13\x80")
	})
	require.NoError(t, client.Dump(t.Context(), "/tmp/a", Heap))
	payload := wide("/tmp/a") + "\x02\x00\x00\x00" + "\x00\x00\x00\x00"
	assert.Equal(t, []string{"\x01\x03" + payload, "\x01\x02" + payload, "\x01\x01" + payload}, sent)

	client = serve(t, func(string, []byte) string {
		return wire(refused, "\x05\x40\x00\x80"+wide("[createdump] No space left on device (28)\n[createdump] Failure took 3ms\n"))
	})
	var failed *RuntimeError
	require.ErrorAs(t, client.Dump(t.Context(), "/tmp/a", Full), &failed)
	assert.Equal(t, uint32(0x80004005), failed.Code)
	assert.Contains(t, failed.Error(), "No space left on device (28)")
	client = serve(t, func(string, []byte) string { return wire(ok, "\x05\x40\x00\x80") })
	require.ErrorAs(t, client.Dump(t.Context(), "/tmp/a", Full), &failed, "a result with a failure is none")
	assert.Error(t, client.Dump(t.Context(), strings.Repeat("x", 40000), Full), "longer than a message")
}

// TestEnvironment reads the block that follows the message.
func TestEnvironment(t *testing.T) {
	block := "\x02\x00\x00\x00" + wide("A=1") + wide("B=2")
	client := serve(t, func(command string, _ []byte) string {
		assert.Equal(t, "\x04\x02", command)
		return wire(ok, string(binary.LittleEndian.AppendUint32(nil, uint32(len(block))))+"\x00\x00") + block
	})
	list, err := client.Environment(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"A=1", "B=2"}, list)
	client = serve(t, func(string, []byte) string { return wire(ok, "\x04\x00\x00\x00\x00\x00") + "\x00\x00\x00\x00" })
	list, err = client.Environment(t.Context())
	require.NoError(t, err)
	assert.Empty(t, list)
}

// TestLies: answers that cannot be right are corrupt data, and nothing of the announced size is allocated for them.
func TestLies(t *testing.T) {
	info := pid + cookie + wide("c") + wide("Linux") + wide("x64") + wide("x") + wide("8.0.1") + wide("linux-x64")
	for name, answer := range map[string]string{
		"magic":           "DOTNET_IPC_V2\x00" + wire(ok, "")[14:],
		"size":            header + "\x13\x00" + ok,
		"command":         wire("\x04\x08\x00\x00", "\x01\x00\x00\x00"+info),
		"no payload":      wire(ok, ""),
		"version 0":       wire(ok, "\x00\x00\x00\x00"+info),
		"long string":     wire(ok, "\x01\x00\x00\x00"+pid+cookie+"\xff\xff\xff\xff"),
		"string of 2 GB":  wire(ok, "\x01\x00\x00\x00"+pid+cookie+"\x00\x00\x00\x40a\x00"),
		"string cut":      wire(ok, "\x01\x00\x00\x00"+info[:len(info)-2]),
		"string no NUL":   wire(ok, "\x01\x00\x00\x00"+info[:len(info)-2]+"aa"),
		"error too short": wire(refused, "\x05"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, func(string, []byte) string { return answer }).Info(t.Context())
			require.ErrorIs(t, err, target.ErrCorrupt)
		})
	}
	for name, answer := range map[string]string{
		"4 GB":           wire(ok, "\xff\xff\xff\xff\x00\x00"),
		"many":           wire(ok, "\x08\x00\x00\x00\x00\x00") + "\xff\xff\xff\x3f\x00\x00\x00\x00",
		"no size":        wire(ok, ""),
		"string too big": wire(ok, "\x08\x00\x00\x00\x00\x00") + "\x01\x00\x00\x00\xff\x00\x00\x00",
	} {
		t.Run("environment/"+name, func(t *testing.T) {
			_, err := serve(t, func(string, []byte) string { return answer }).Environment(t.Context())
			require.ErrorIs(t, err, target.ErrCorrupt)
		})
	}
	for _, answer := range []string{"", header, wire(ok, "\x01\x00\x00\x00"+info)[:100]} {
		_, err := serve(t, func(string, []byte) string { return answer }).Info(t.Context())
		require.ErrorIs(t, err, errHungUp)
	}
}

// TestSilence: a process that does not answer costs the time that the caller gives it.
func TestSilence(t *testing.T) {
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, late)
	defer cancel()
	hangs := make(chan struct{})
	defer close(hangs)
	_, err := serve(t, func(string, []byte) string { <-hangs; return "" }).Info(ctx)
	require.ErrorIs(t, err, late)
}

// TestDial refuses what is not a socket of the process.
func TestDial(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has named pipes")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "s")
	l, err := net.Listen("unix", name)
	require.NoError(t, err)
	defer l.Close()
	self, uid := os.Getpid(), uint32(os.Getuid())
	conn, err := Dial(t.Context(), name, self, uid)
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	_, err = Dial(t.Context(), name, self, uid+1)
	require.ErrorContains(t, err, "belongs to user")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(name, link))
	_, err = Dial(t.Context(), link, self, uid)
	require.ErrorContains(t, err, "not a socket")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	_, err = Dial(t.Context(), filepath.Join(dir, "file"), self, uid)
	require.ErrorContains(t, err, "not a socket")
	if runtime.GOOS != "linux" {
		return
	}
	_, err = Dial(t.Context(), name, os.Getppid(), uid)
	require.ErrorContains(t, err, fmt.Sprintf("process %d listens there", self))

	deep := filepath.Join(dir, strings.Repeat("d", 120))
	require.NoError(t, os.Mkdir(deep, 0o700))
	require.NoError(t, os.Rename(name, filepath.Join(deep, "s")))
	conn, err = Dial(t.Context(), filepath.Join(deep, "s"), self, uid)
	require.NoError(t, err, "a path that is too long for an address")
	require.NoError(t, conn.Close())
}

// FuzzReader feeds the readers of answers with bytes. They must not panic, and not allocate what was only announced.
func FuzzReader(f *testing.F) {
	info := pid + cookie + wide("c") + wide("Linux") + wide("x64") + wide("x") + wide("8.0.1") + wide("linux-x64")
	for _, seed := range []string{wire(ok, "\x01\x00\x00\x00"+info), wire(ok, info), wire(ok, "\x00\x00\x00\x00"), wire(refused, "\x05\x40\x00\x80"+wide("why")),
		wire(ok, "\x10\x00\x00\x00\x00\x00") + "\x01\x00\x00\x00" + wide("A=1"), wire(ok, "\xff\xff\xff\x7f\x00\x00"), header} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := iotest.HalfReader(bytes.NewReader(data))
		got, payload, err := readMessage(r)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, len(payload), maxMessage)
		for _, of := range []command{processInfo, processInfo2, processInfo3} {
			if i, err := parseInfo(of, payload); err == nil {
				assert.LessOrEqual(t, len(i.CommandLine)+len(i.Version)+len(i.Platform), 3*maxMessage)
			}
		}
		_, _ = parseError(payload), parseResult(payload)
		if list, err := readEnvironment(payload, r); err == nil {
			assert.LessOrEqual(t, 4*len(list), len(data))
		}
		_ = got
	})
}
