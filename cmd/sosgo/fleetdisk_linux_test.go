package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	answers "github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestFleetFullDisk adds dumps to a fleet on a disk that is full after some of them, and repeats the command when
// there is room. The first run must say that the disk failed, by its exit code too, and the second run must add the
// others: nothing is lost or doubled.
func TestFleetFullDisk(t *testing.T) {
	const n = 12
	dumps, disk := t.TempDir(), t.TempDir()
	fleetDumps(t, dumps, n)
	require.NoError(t, os.WriteFile(filepath.Join(dumps, "cut.dmp"), []byte("MDMP, and no more"), 0o600))
	program, err := os.Executable()
	require.NoError(t, err)
	own := []string{"unshare", "--mount", "--map-root-user"}
	mount := `mount -t tmpfs -o size=1m none "$0" && `
	if err := exec.Command(own[0], append(own[1:], "sh", "-c", mount+"true", disk)...).Run(); err != nil {
		t.Skip("this machine makes no small disk:", err)
	}
	const runs = `cd "$0"; head -c 960000 /dev/zero >ballast
"$1" --json fleet add fleet "$2"; echo $?
rm ballast
"$1" --json fleet add fleet "$2"; echo $?
"$1" --json fleet add fleet "$2"; echo $?
ls -d fleet/date=*/part=* | wc -l; find fleet -name '.sosgo-*' | wc -l`
	c := exec.Command(own[0], append(own[1:], "sh", "-c", mount+runs, disk, program, dumps)...)
	c.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir())
	out, err := c.Output()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, 8, "%s", out)
	read := func(line string) *answers.FleetAdded {
		var said struct{ Result answers.FleetDone }
		require.NoError(t, json.Unmarshal([]byte(line), &said), line)
		require.NotNil(t, said.Result.Added)
		return said.Result.Added
	}
	full, room, again := read(lines[0]), read(lines[2]), read(lines[4])
	assert.Equal(t, []string{"8", "0", "0"}, []string{lines[1], lines[3], lines[5]}, "exit codes")
	require.Positive(t, full.Added, "the disk must be full in the middle: %s", out)
	require.Positive(t, full.Retry, "%s", out)
	assert.Equal(t, n, full.Added+full.Retry)
	assert.Len(t, full.Failures, full.Retry+1, "and the cut dump")
	assert.Equal(t, []int{full.Retry, full.Added, 0}, []int{room.Added, room.Present, room.Retry})
	assert.LessOrEqual(t, len(room.Failures)+room.Before, 1, "the cut dump, if its failure could not be logged")
	assert.Equal(t, []int{0, n, 1, 0}, []int{again.Added, again.Present, again.Before, len(again.Failures)})
	assert.Equal(t, []string{"12", "0"}, lines[6:], "parts, and unfinished files")
}

// TestWritersFullDisk runs everything that writes, on a full disk and on one that is read-only: the exit code is ExitWrite,
// and nothing stays.
func TestWritersFullDisk(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	program, err := os.Executable()
	require.NoError(t, err)
	own := []string{"unshare", "--mount", "--map-root-user"}
	mount := `mount -t tmpfs -o size=64k none "$0" && `
	disk := t.TempDir()
	if err := exec.Command(own[0], append(own[1:], "sh", "-c", mount+"true", disk)...).Run(); err != nil {
		t.Skip("this machine makes no small disk:", err)
	}
	var script strings.Builder
	var lines []string
	for _, how := range []string{`cd /; head -c 65536 /dev/zero >"$0"/ballast`, `mount -o remount,ro none "$0"`} {
		script.WriteString(how + "\n")
		for _, line := range writers {
			if strings.HasPrefix(line, "-graph-dir") {
				continue // a graph that can't be kept is a warning
			}
			line = writingOf(d, line, disk)
			lines = append(lines, how+": "+line)
			script.WriteString(`"$1" -d "$2" -offline -c '` + line + `' >/dev/null; echo $? $(ls -A "$0"); rmdir "$0"/x/* "$0"/x 2>/dev/null; true` + "\n")
		}
	}
	c := exec.Command(own[0], append(own[1:], "sh", "-c", mount+script.String(), disk, program, d.Plain())...)
	c.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir())
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	require.NoError(t, err, "%s", errs.String())
	said := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, said, len(lines), "%s", out)
	for i, line := range lines {
		assert.Contains(t, []string{"8 ballast", "8 ballast x"}, said[i], "%s", line)
		if strings.HasSuffix(said[i], " x") {
			assert.Contains(t, line, "-summary", "the folder of a fleet stays, empty")
		}
	}
	if t.Failed() {
		t.Log(errs.String())
	}
}

// TestLogFullDisk keeps a log on a full disk: the exit code is ExitWrite, the command is answered, and no empty log stays.
func TestLogFullDisk(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	program, err := os.Executable()
	require.NoError(t, err)
	disk := t.TempDir()
	c := exec.Command("unshare", "--mount", "--map-root-user", "sh", "-c", `mount -t tmpfs -o size=64k none "$0" || { echo none; exit; }
		"$1" -d "$2" -offline -c "logopen $0/before" -c version >/dev/null; echo $?
		head -c 65536 /dev/zero >"$0"/ballast 2>/dev/null
		"$1" -d "$2" -offline -c "logopen $0/log" -c version; echo $? $(ls -A "$0")
		"$1" -d "$2" -offline -c "logopen -append $0/before" -c version >/dev/null; echo $? $(ls -A "$0")`, disk, program, d.Plain())
	c.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir())
	out, err := c.Output()
	if err != nil || strings.HasPrefix(string(out), "none") {
		t.Skip("this machine makes no small disk:", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	assert.Equal(t, "0", lines[0])
	assert.Contains(t, string(out), "sosgo", "the command is answered")
	assert.Equal(t, []string{"8 ballast before", "8 ballast before"}, []string{lines[len(lines)-2], lines[len(lines)-1]}, "%s", out)
}

// TestFullStream: the exit code of what serves a client on a full standard output is ExitWrite, too.
func TestFullStream(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	program, err := os.Executable()
	require.NoError(t, err)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { assert.NoError(t, full.Close()) }()
	ping := `{"seq":1,"type":"request","command":"threads"}`
	for command, in := range map[string]string{
		"mcp":     `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n",
		"dap":     fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping), ping),
		"version": "",
	} {
		c := exec.Command(program, "-offline", command)
		if command == "mcp" {
			c.Args = append(c.Args, d.Plain())
		}
		c.Env = append(os.Environ(), asProgram+"=1")
		c.Stdin, c.Stdout = strings.NewReader(in), full
		var exit *exec.ExitError
		require.ErrorAs(t, c.Run(), &exit, command)
		assert.Equal(t, cli.ExitWrite, exit.ExitCode(), command)
	}
}

// TestFleetVanished compacts a fleet that is not there.
func TestFleetVanished(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	out, errs, code := run(t, "fleet", "compact", gone)
	assert.Equal(t, cli.ExitOpen, code, "%s%s", out, errs)
	assert.Empty(t, out)
	assert.Contains(t, errs, "no such file")
}
