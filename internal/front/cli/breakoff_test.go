package cli

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
)

// TestBreakOff: a command that only asks, and does not look whether somebody wants its answer, does not keep the user
// waiting. All others, and what has something to complete, are waited for.
func TestBreakOff(t *testing.T) {
	at := make(chan struct{}, 1)
	stopped := func(c *Context) (report.Answer, error) {
		at <- struct{}{}
		<-c.Context().Done()
		return report.Answer{}, c.Context().Err()
	}
	deaf, hear := make(chan struct{}), stopped
	defer close(deaf)
	commands := append(fakeCommands(),
		Command{Name: "deaf", Group: GroupShell, Summary: "asks", OnlyAsks: true, Ask: func(*Context) (report.Answer, error) {
			at <- struct{}{}
			<-deaf
			return report.Answer{}, nil
		}},
		Command{Name: "hears", Group: GroupShell, Summary: "asks", OnlyAsks: true, Ask: hear},
		Command{Name: "keeps", Group: GroupShell, Summary: "writes a file", Ask: hear},
		Command{Name: "opens", Group: GroupShell, Summary: "unpacks another dump", OnlyAsks: true, Ask: func(c *Context) (a report.Answer, err error) {
			c.wholly(func() { a, err = hear(c) })
			return a, err
		}},
		Command{Name: "writes", Group: GroupShell, Summary: "writes for long", OnlyAsks: true, Ask: func(c *Context) (report.Answer, error) {
			return report.Answer{Text: func(*report.Page) { _, _ = hear(c) }}, nil
		}},
	)
	for _, test := range []struct {
		name string
		args []string
		left bool
	}{
		{"only asks", []string{"deaf"}, true},
		{"has a document", []string{"hears", "-json"}, false},
		{"of a session", []string{"-c", "hears"}, false},
		{"keeps a graph", []string{"-graph-dir", t.TempDir(), "hears"}, false},
		{"asks a server", []string{"-symbol-server", "http://localhost:1", "hears"}, false},
		{"another command", []string{"keeps"}, false},
		{"opens a dump", []string{"opens"}, false},
		{"has an answer", []string{"writes"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			interrupt, left, ended := make(chan os.Signal, 1), make(chan int, 1), make(chan int, 1)
			var stdout bytes.Buffer
			var stderr bytes.Buffer
			go func() {
				ended <- Main(t.Context(), test.args, nil, &stdout, &stderr, Env{Commands: commands, Interrupt: interrupt, Leave: func(code int) { left <- code }})
			}()
			<-at
			interrupt <- os.Interrupt
			select {
			case code := <-left:
				require.True(t, test.left)
				assert.Equal(t, ExitInterrupted, code)
				assert.Empty(t, stdout.String())
				assert.Equal(t, errorLine("deaf", errInterrupted), stderr.String())
			case code := <-ended:
				require.False(t, test.left)
				assert.Equal(t, ExitInterrupted, code)
				assert.Empty(t, left)
			case <-time.After(time.Minute):
				t.Fatal("nobody left")
			}
		})
	}
}
