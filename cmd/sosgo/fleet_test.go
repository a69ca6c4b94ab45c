package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	answers "github.com/sosgo/sosgo/answer"
	fleets "github.com/sosgo/sosgo/internal/export/fleet"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// asProgram makes the test binary act as sosgo. asFleetChild marks the processes of "fleet add".
const asProgram, asFleetChild = "SOSGO_TEST_PROGRAM", "SOSGO_FLEET_CHILD"

// shortPatience makes the program give up a server that fails once, and look into one object of a listing.
const shortPatience = "SOSGO_TEST_PATIENCE"

func TestMain(m *testing.M) {
	if os.Getenv(shortPatience) != "" {
		fleets.MostLost, fleets.MostLooks = time.Millisecond, time.Nanosecond
	}
	if os.Getenv(asProgram) != "" || os.Getenv(asFleetChild) != "" {
		main()
	}
	os.Exit(m.Run())
}

// fleetDumps writes n variants of a canned Windows dump with different times.
func fleetDumps(t *testing.T, dir string, n int) {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join(moduleRoot, "testdata", "dumps", "win-net10-zoo-triage", "win-net10-zoo-triage.dmp.zst"))
	if err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	z, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer z.Close()
	dump, err := z.DecodeAll(packed, nil)
	require.NoError(t, err)
	require.Equal(t, "MDMP", string(dump[:4]))
	for i := range n {
		const timeDateStamp = 20 // in MINIDUMP_HEADER
		binary.LittleEndian.PutUint32(dump[timeDateStamp:], uint32(1_795_600_000+i*43_200))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%02d.dmp", i)), dump, 0o600))
	}
}

// TestFleetRetries checks that a run that failed because of the machine has an exit code, and that the next run tries
// its dumps again: after a time-out, and after a file in the place of a folder.
func TestFleetRetries(t *testing.T) {
	fleet, dumps := t.TempDir(), t.TempDir()
	fleetDumps(t, dumps, 1)
	t.Setenv(asProgram, "1")
	add := func(args ...string) (*answers.FleetAdded, int) {
		out, _, code := run(t, append([]string{"--json", "fleet", "add", fleet, dumps}, args...)...)
		var said struct{ Result answers.FleetDone }
		require.NoError(t, json.Unmarshal([]byte(out), &said), out)
		require.NotNil(t, said.Result.Added)
		return said.Result.Added, code
	}
	late, code := add("--timeout", "1ns")
	assert.Equal(t, []int{2, 0, 1}, []int{code, late.Added, late.Retry})
	assert.Contains(t, late.Failures[0].Reason, "it took longer than 1ns")
	inTheWay := filepath.Join(fleet, "date=2026-11-25")
	require.NoError(t, os.WriteFile(inTheWay, nil, 0o600))
	barred, code := add()
	assert.Equal(t, []int{2, 0, 1, 0}, []int{code, barred.Added, barred.Retry, barred.Before})
	require.NoError(t, os.Remove(inTheWay))
	added, code := add()
	assert.Equal(t, []int{0, 1, 0, 0}, []int{code, added.Added, added.Retry, added.Before})
}

// TestFleetMachine checks that what this machine can't do, or a limit forbids, is not the dump's failure: the run has an exit code,
// and the next one adds the dump.
func TestFleetMachine(t *testing.T) {
	packed := filepath.Join(moduleRoot, "testdata", "dumps", "win-net10-zoo-triage", "win-net10-zoo-triage.dmp.zst")
	content, err := os.ReadFile(packed)
	if err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	local, err := filepath.Abs(packed)
	require.NoError(t, err)
	heap := filepath.Join(filepath.Dir(filepath.Dir(local)), "net10-zoo", "net10-zoo.dmp.zst")
	temporary, others, none := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "none", "none")
	require.NoError(t, os.Chmod(others, 0o777))
	t.Setenv(asProgram, "1")
	for name, c := range map[string]struct {
		source, folder, says string
		options              []string
	}{
		"no temporary folder": {local, none, "no temporary file", nil},
		"others' folder":      {server.URL + "/d.dmp.zst", temporary, "others may write in", []string{"--remote-pages", others}},
		"no folder of pages":  {server.URL + "/d.dmp.zst", temporary, "not a directory", []string{"--remote-pages", local}},
		"a limit":             {local, temporary, "the limit of 1000 bytes", []string{"--limit", "unpacked=1000"}},
		"few ranges":          {local, temporary, "none of the data of .NET", []string{"--limit", "ranges=5"}},
		"few threads":         {local, temporary, "limit threads", []string{"--limit", "threads=1"}},
		"few notes":           {heap, temporary, "limit notes", []string{"--limit", "notes=1"}},
		"little memory":       {heap, temporary, "--max-memory", []string{"--max-memory", "1k"}},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && c.folder == temporary && len(c.options) > 0 && c.options[0] != "--limit" {
				t.Skip("folders of users are private there")
			}
			fleet := t.TempDir()
			add := func(folder string, options ...string) (*answers.FleetAdded, int) {
				for _, v := range []string{"TMPDIR", "TMP", "TEMP", "HOME", "XDG_CACHE_HOME", "LocalAppData"} {
					t.Setenv(v, folder)
				}
				out, errs, code := run(t, append([]string{"--json", "fleet", "add", fleet, c.source, "--tries", "1"}, options...)...)
				var said struct{ Result answers.FleetDone }
				require.NoError(t, json.Unmarshal([]byte(out), &said), "%s%s", out, errs)
				require.NotNil(t, said.Result.Added)
				return said.Result.Added, code
			}
			barred, code := add(c.folder, c.options...)
			assert.Equal(t, []int{2, 0, 1, 0}, []int{code, barred.Added, barred.Retry, barred.Before})
			require.Len(t, barred.Failures, 1)
			assert.Contains(t, barred.Failures[0].Reason, c.says)
			added, code := add(temporary)
			assert.Equal(t, []int{0, 1, 0, 0}, []int{code, added.Added, added.Retry, added.Before})
		})
	}
}

// TestFleetFewFiles: a process that can't be started was not killed.
func TestFleetFewFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the number of files that are open at the start differs")
	}
	dump := filepath.Join(moduleRoot, "testdata", "dumps", "win-net10-zoo-triage", "win-net10-zoo-triage.dmp.zst")
	if _, err := os.Stat(dump); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command("sh", "-c", `ulimit -n 8; exec "$0" "$@"`, program, "--json", "fleet", "add", t.TempDir(), dump, "--tries", "1")
	c.Env = append(os.Environ(), asProgram+"=1")
	out, err := c.Output()
	require.Error(t, err)
	var said struct{ Result answers.FleetDone }
	require.NoError(t, json.Unmarshal(out, &said), "%s", out)
	require.Len(t, said.Result.Added.Failures, 1)
	failure := said.Result.Added.Failures[0]
	assert.True(t, failure.Retry)
	assert.Regexp(t, "^its process can't be started: .*too many open files", failure.Reason)
}

// TestFleetLostServer checks that a server that answers nothing is not asked for each of its dumps, and that they are
// tried again by the next run.
func TestFleetLostServer(t *testing.T) {
	asked := map[string]int{}
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	words := []string{"--json", "fleet", "add", t.TempDir(), "--tries", "1"}
	for i := range 20 {
		words = append(words, fmt.Sprintf("%s/%d", s.URL, i))
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for range 2 {
		clear(asked)
		c := exec.Command(program, words...)
		c.Env = append(os.Environ(), asProgram+"=1", shortPatience+"=1")
		out, err := c.Output()
		require.Error(t, err)
		var said struct{ Result answers.FleetDone }
		require.NoError(t, json.Unmarshal(out, &said))
		assert.Equal(t, 20, said.Result.Added.Retry)
		assert.Len(t, asked, 1)
	}
}

// TestFleet kills and repeats runs of add and compact. Each dump must be added once, and unreadable ones must have a
// reason. SOSGO_FLEET sets the number of dumps, such as 2000.
func TestFleet(t *testing.T) {
	n := testcase.Part(t, 60, 3)
	if testing.Short() {
		n = 4
	}
	if text := os.Getenv("SOSGO_FLEET"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	fleet, dumps := filepath.Join(t.TempDir(), "fleet"), t.TempDir()
	fleetDumps(t, dumps, n)
	require.NoError(t, os.WriteFile(filepath.Join(dumps, "cut.dmp"), []byte("MDMP, and no more"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dumps, "notes.txt"), []byte("about them"), 0o600))
	program, err := os.Executable()
	require.NoError(t, err)
	parts := func() []string {
		list, err := filepath.Glob(filepath.Join(fleet, "date=*", "part=*"))
		require.NoError(t, err)
		return list
	}
	ask := func(args ...string) answers.FleetDone {
		c := exec.Command(program, append([]string{"--json", "fleet"}, args...)...)
		c.Env = append(os.Environ(), asProgram+"=1")
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		require.NoError(t, c.Run(), "%s", errs.Bytes())
		var said struct{ Result answers.FleetDone }
		require.NoError(t, json.Unmarshal(out.Bytes(), &said))
		return said.Result
	}

	stop, watched := make(chan struct{}), make(chan []string)
	go func() { // what another program reads while parts are written: FLEET/*/*/dump.parquet of docs/fleet.md
		var early []string
		for {
			list, _ := filepath.Glob(filepath.Join(fleet, "*", "*", "*.parquet"))
			for _, path := range list {
				if name := filepath.Base(filepath.Dir(path)); !strings.HasPrefix(name, "part=") {
					early = append(early, path)
				}
			}
			select {
			case <-stop:
				watched <- early
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	killed := exec.Command(program, "fleet", "add", fleet, dumps)
	killed.Env = append(os.Environ(), asProgram+"=1")
	require.NoError(t, killed.Start())
	for deadline := time.Now().Add(time.Minute); len(parts()) < 2 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait() // killed
	require.NotEmpty(t, parts())

	added := ask("add", fleet, dumps, "--processes", "2").Added
	close(stop)
	assert.Empty(t, <-watched, "parts that are not complete")
	require.NotNil(t, added)
	assert.Equal(t, n, added.Added+added.Present)
	assert.Equal(t, 1, added.Others)
	require.Len(t, parts(), n)
	if added.Before == 0 { // the killed run had not reached it
		require.Len(t, added.Failures, 1)
		assert.Equal(t, "cut.dmp", filepath.Base(added.Failures[0].File))
		assert.Contains(t, added.Failures[0].Reason, "cut.dmp")
		assert.NotZero(t, added.Failures[0].Exit)
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(dumps, link) == nil {
		assert.Equal(t, n, ask("add", fleet, link).Added.Present, "a link to a folder is followed where it is named")
	}
	added = ask("add", fleet, dumps).Added
	assert.Equal(t, fmt.Sprint(0, n, 1, 0), fmt.Sprint(added.Added, added.Present, added.Before, len(added.Failures)))

	killed = exec.Command(program, "fleet", "compact", fleet)
	killed.Env = append(os.Environ(), asProgram+"=1")
	require.NoError(t, killed.Start())
	for deadline := time.Now().Add(time.Minute); len(parts()) == n && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait() // killed, unless it had finished
	done := ask("compact", fleet).Compacted
	require.NotNil(t, done)
	files, err := filepath.Glob(filepath.Join(fleet, "date=*", "part=*", "*.parquet"))
	require.NoError(t, err)
	assert.Len(t, files, 3*((n+1)/2), "a file of each of the three tables that the dumps have, and day")
	var ids []string
	for _, p := range parts() {
		text, err := os.ReadFile(filepath.Join(p, "_ids"))
		require.NoError(t, err)
		ids = append(ids, strings.Fields(string(text))...)
	}
	assert.Len(t, ids, n)
	slices.Sort(ids)
	assert.Len(t, slices.Compact(ids), n, "none is there twice")
	again := ask("add", fleet, dumps, "--again").Added
	assert.Equal(t, fmt.Sprint(0, n, 1), fmt.Sprint(again.Added, again.Present, len(again.Failures)))

	out, errs, code := run(t, "signature", "test", filepath.Join(moduleRoot, "internal", "app", "signature", "default.rules"), fleet)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "0 get another signature")
	for _, line := range []string{"fleet add", "fleet add x", "fleet compact a b", "signature test", "signature rules x", "signature test default.rules no-such-fleet", "signature test none.rules " + fleet} {
		_, _, code := run(t, strings.Fields(line)...)
		assert.NotZero(t, code, line)
	}
	text, _, code := run(t, "signature", "rules")
	assert.Zero(t, code)
	assert.Contains(t, text, "skip System.Environment.FailFast")
}
