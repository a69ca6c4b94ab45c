package agreement

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// A Program runs command lines of sosgo on one dump, which stays open. It is safe for concurrent
// use.
type Program struct {
	path    string
	modules string
	offline bool
	timeout time.Duration
	jobs    int

	once sync.Once
	dump cli.Dump
	err  error
}

// Open returns a Program for a case with an unpacked dump. The first command opens the dump. A
// command that runs longer than timeout is stopped.
func Open(c *testcase.Case, jobs int, timeout time.Duration) *Program {
	return &Program{path: c.Path, modules: c.Modules, offline: c.Canned, jobs: max(1, jobs), timeout: timeout}
}

// Close closes the dump.
func (p *Program) Close() error {
	if p.dump == nil {
		return nil
	}
	return p.dump.Close()
}

// An Answer is the outcome of one run.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// Run runs commands in one session in SOS's form, like "sosgo -d DUMP -c COMMAND...". Each call has
// its own session.
func (p *Program) Run(commandLines ...string) Answer {
	ctx, cancel := context.WithTimeout(context.Background(), p.timeout)
	defer cancel()
	args := []string{"-d", p.path}
	if p.modules != "" {
		args = append(args, "--modules", p.modules)
	}
	for _, line := range commandLines {
		args = append(args, "-c", line)
	}
	var stdout, stderr bytes.Buffer
	code := cli.Main(ctx, args, strings.NewReader(""), &stdout, &stderr, cli.Env{
		Commands: commands.All(), Open: p.open, Threads: commands.Threads, Limits: commands.Limits(),
		LookupEnv: lookupEnv, Recover: true, KeepOpen: true,
	})
	return Answer{stdout.String(), stderr.String(), code}
}

// lookupEnv returns the environment of a run: the process's variables, and SOSGO_SOS, which selects
// SOS's form.
func lookupEnv(name string) (string, bool) {
	if name == "SOSGO_SOS" {
		return "1", true
	}
	return os.LookupEnv(name)
}

// open opens the dump once and returns it to every session.
func (p *Program) open(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	o.Context, o.Progress = nil, nil // of the session, which ends before the dump is closed
	o.Offline = o.Offline || p.offline
	p.once.Do(func() { p.dump, p.err = commands.Open(ctx, path, o) })
	return p.dump, p.err
}

// each runs every command line in its own session and returns the outputs.
func (p *Program) each(lines []string) []string {
	out := make([]string, len(lines))
	eachOf(p.jobs, len(lines), func(i int) { out[i] = p.Run(lines[i]).Stdout })
	return out
}

// eachOf calls f for 0 to n-1 in several goroutines.
func eachOf(jobs, n int, f func(i int)) {
	var next atomic.Int64
	var g workers.Group
	for range max(1, min(jobs, n)) {
		g.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	g.Wait()
}
