package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A result is the outcome of a line.
type result struct {
	stdout, stderr string // beginnings of the outputs
	sum            uint64 // checksum of both outputs
	size           int64
	code           int
	panicked       string
}

// A summed writer stores the beginning of the output, and a checksum of all of it.
type summed struct {
	kept []byte
	size int64
	sum  uint64
}

// keptBytes is how much of an output is stored to show differences. The output for an undamaged
// dump is shorter.
const keptBytes = 8 << 20

func (s *summed) Write(p []byte) (int, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%x", s.sum)
	h.Write(p)
	s.sum = h.Sum64()
	s.size += int64(len(p))
	s.kept = append(s.kept, p[:min(len(p), keptBytes-len(s.kept))]...)
	return len(p), nil
}

// stackLines is the number of lines of a panic's stack in a finding.
const stackLines = 16

// run opens raw and runs one line on it.
func (s *subject) run(ctx context.Context, raw []byte, jobs int, text string) result {
	return s.main(ctx, jobs, text, false, func() (cli.Dump, error) {
		d, err := process.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), s.options(jobs))
		if err != nil {
			return nil, err
		}
		return d, nil
	})
}

// runOpen runs one line on an open dump and leaves it open.
func (s *subject) runOpen(ctx context.Context, d *sosgo.Dump, jobs int, text string) result {
	return s.main(ctx, jobs, text, true, func() (cli.Dump, error) { return d.Dump, nil })
}

func (s *subject) main(ctx context.Context, jobs int, text string, keepOpen bool, open func() (cli.Dump, error)) (r result) {
	var stdout, stderr summed
	defer func() {
		if v := recover(); v != nil {
			buf := make([]byte, 16<<10)
			_, stack, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "\npanic(")
			r.panicked = fmt.Sprintf("panic: %v\n%s", v, strings.Join(strings.SplitN(stack, "\n", stackLines+1)[:stackLines], "\n"))
		}
	}()
	_ = os.RemoveAll(filepath.Join(s.out(), "written"))
	args := []string{"-d", "dump", "-jobs", strconv.Itoa(jobs)}
	for l := range strings.SplitSeq(text, ";;") {
		args = append(args, "-c", strings.TrimSpace(l))
	}
	r.code = cli.Main(ctx, args, strings.NewReader(""), &stdout, &stderr, cli.Env{
		Commands: commands.All(),
		KeepOpen: keepOpen,
		Open:     func(context.Context, string, cli.OpenOptions) (cli.Dump, error) { return open() },
	})
	r.stdout, r.stderr = string(stdout.kept), string(stderr.kept)
	r.sum, r.size = stdout.sum^stderr.sum<<1, stdout.size+stderr.size
	return r
}

// out returns the folder for files that commands write.
func (s *subject) out() string { return os.TempDir() }

// A watchdog ends the process when a line takes too much CPU time, and reports where it was.
// Machines run several tests, so the clock is only used for a line that hangs without using the
// CPU.
type watchdog struct {
	mu    sync.Mutex
	since time.Time     // start of the line; zero if none runs
	used  time.Duration // CPU time at the start
	what  string
}

// stillness is the maximum time of a line by the clock.
const stillness = 3 * time.Minute

// watch starts a watchdog.
func watch(limit time.Duration, bark func(what, stacks string)) *watchdog {
	w := &watchdog{}
	go func() {
		for range time.Tick(limit / 40) {
			w.mu.Lock()
			since, used, what := w.since, w.used, w.what
			w.mu.Unlock()
			if !since.IsZero() && (processorTime()-used > limit || time.Since(since) > stillness) {
				buf := make([]byte, 256<<10)
				bark(what, string(buf[:runtime.Stack(buf, true)]))
			}
		}
	}()
	return w
}

// begin records the start of a line.
func (w *watchdog) begin(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.used, w.what = time.Now(), processorTime(), what
}

// end records the end of a line and returns its CPU time.
func (w *watchdog) end() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Time{}
	return processorTime() - w.used
}

// peak returns the peak memory of the process in bytes since it was last reset, or 0 if it is
// unknown.
func peak(reset bool) uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	digits, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kb, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	if reset { // if this fails, it remains the peak of all lines
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	}
	return kb << 10
}
