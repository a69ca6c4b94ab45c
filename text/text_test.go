package text_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/text"
)

// A printer compares what the package writes about a dump with what commands print.
type printer struct {
	*sosgo.View
	kept testcli.Kept
}

func open(t *testing.T, name string) *printer {
	path := testcase.Canned(t, name).Plain()
	d, err := sosgo.Open(path, sosgo.Options{})
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	p := &printer{View: v, kept: testcli.Kept{Path: path}}
	t.Cleanup(func() {
		assert.NoError(t, p.kept.Close())
		assert.NoError(t, d.Close())
	})
	return p
}

// prints returns the standard output of a command.
func (p *printer) prints(t *testing.T, sos bool, args ...string) string {
	line := append([]string{"-d", p.kept.Path}, args...)
	if sos {
		line = append([]string{"--sos"}, line...)
	}
	var out, errs bytes.Buffer
	env := p.kept.Env()
	env.Commands, env.Threads, env.Limits = commands.All(), commands.Threads, commands.Limits()
	cli.Main(t.Context(), line, strings.NewReader(""), &out, &errs, env)
	require.NotEmpty(t, out.String(), errs.String())
	return out.String()
}

// written returns what a function writes.
func written(t *testing.T, write func(w io.Writer, o text.Options) error, o text.Options) string {
	var b bytes.Buffer
	o.Missing = func(error) {}
	require.NoError(t, write(&b, o))
	return b.String()
}

// TestWritesWhatCommandsPrint compares each function with its command, in both forms.
func TestWritesWhatCommandsPrint(t *testing.T) {
	for _, name := range []string{"net10-crash-nested", "net10-stacks", "net10-async", "net10-zoo", "nativeaot-crash"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, name)
			for _, sos := range []bool{false, true} {
				o := text.Options{SOS: sos}
				c, err := p.Crash(t.Context(), sosgo.CrashOptions{})
				require.NoError(t, err)
				assert.Equal(t, p.prints(t, sos, "crashinfo"), written(t, func(w io.Writer, o text.Options) error { return text.Crash(w, c, o) }, o))

				found, err := p.Triage(t.Context(), sosgo.TriageOptions{})
				require.NoError(t, err)
				page := p.prints(t, sos, "triage")
				advice, whole := strings.CutPrefix(page, written(t, func(w io.Writer, o text.Options) error { return text.Triage(w, found, o) }, o))
				assert.True(t, whole, page)
				for line := range strings.Lines(advice) {
					assert.True(t, strings.HasPrefix(line, "What would help:"), line)
				}
				for i := range found.Findings {
					assert.Contains(t, page, fmt.Sprintf("\n%d. %s", i+1, written(t, func(w io.Writer, o text.Options) error { return text.Finding(w, &found.Findings[i], o) }, o)))
				}
			}
		})
	}
}

func TestStacks(t *testing.T) {
	for _, name := range []string{"net10-stacks", "net10-crash-null-triage", "net8-zoo"} {
		p := open(t, name)
		for _, test := range []struct {
			option string
			o      text.Options
		}{
			{"-n", text.Options{All: true}},
			{"-f", text.Options{All: true, Full: true}},
			{"-r", text.Options{All: true, Registers: true}},
			{"-a", text.Options{All: true, Variables: true}},
			{"-a", text.Options{All: true, Variables: true, SOS: true}},
		} {
			var so stacks.Options
			so.Source, so.Registers = test.option != "-n", test.o.Registers
			so.Arguments, so.Locals = test.o.Variables, test.o.Variables
			if test.o.SOS {
				so.Carried, so.Now, so.Runtimes = true, true, stacks.OneRuntime
			}
			list, err := stacks.Stacks(t.Context(), p.Process, so)
			require.NoError(t, err)
			got := written(t, func(w io.Writer, o text.Options) error { return text.Stacks(w, list, o) }, test.o)
			assert.Equal(t, p.prints(t, test.o.SOS, "clrstack", "-all", test.option), got, "%s %s", name, test.option)
		}
	}
}

func TestObject(t *testing.T) {
	p := open(t, "net10-zoo")
	for _, sos := range []bool{false, true} {
		for _, a := range []target.Addr{0x7efbcd80b550, 0x7efbcd806bc0} { // a Dog, a Dictionary
			x, err := p.Describe(t.Context(), a, sosgo.DescribeOptions{Plain: sos})
			require.NoError(t, err)
			got := written(t, func(w io.Writer, o text.Options) error { return text.Object(w, x, o) }, text.Options{SOS: sos})
			assert.Equal(t, p.prints(t, sos, "dumpobj", a.String()), got)
		}
	}
}

// TestErrors checks which errors a function returns, and what it writes all the same.
func TestErrors(t *testing.T) {
	lost, ended := errors.New("a thread is missing"), errors.New("the list ended")
	list := func(failure error) *answer.Stacks {
		s := &answer.Stacks{}
		s.Threads = answer.NewRows(&s.Gaps, func(yield func(*answer.ThreadStack, error) bool) error {
			if yield(nil, lost) {
				yield(&answer.ThreadStack{ThreadID: answer.ThreadID{OSID: 0x2a}, Frames: iter.Seq2[*answer.Frame, error](func(func(*answer.Frame, error) bool) {})}, nil)
			}
			return failure
		})
		return s
	}
	var b bytes.Buffer
	require.ErrorIs(t, text.Stacks(&b, list(nil), text.Options{}), lost)
	assert.Contains(t, b.String(), "0x2a", "what follows a missing row")

	var missing []error
	o := text.Options{Missing: func(err error) { missing = append(missing, err) }}
	require.NoError(t, text.Stacks(io.Discard, list(nil), o))
	assert.Equal(t, []error{lost}, missing)
	require.ErrorIs(t, text.Stacks(io.Discard, list(ended), o), ended)
	require.ErrorIs(t, text.Stacks(io.Discard, list(ended), text.Options{}), ended, "the failure comes before a missing row")

	full := failing{errors.New("disk full")}
	require.ErrorIs(t, text.Stacks(full, list(nil), o), full.error)
	require.ErrorIs(t, text.Stacks(io.Discard, nil, o), sosgo.ErrArgument)
}

// A failing writer writes nothing.
type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// Print the most severe finding as "sosgo triage" does.
func ExampleFinding() {
	d, err := sosgo.Open("../testdata/dumps/net10-async/net10-async.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	found, err := v.Triage(context.Background(), sosgo.TriageOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := text.Finding(os.Stdout, &found.Findings[0], text.Options{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// STARVED THREAD POOL (high): the pool is starved: 23 items wait for a worker, and all 2 workers wait for something themselves [likely]
	//      - 2 of 2 workers are busy
	//      - 2 workers: each waits for an event in Debuggee.AsyncWork.Scenario.Queued(System.Object) (threads 7, 8)
	//      - the pool may have 2 workers at most: it can't make another
	//      next: threadpool -wi; waits
}
