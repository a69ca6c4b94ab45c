package webui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/webui"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

func write(t *testing.T, a webui.Asker, s webui.Subject) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, webui.WriteReport(t.Context(), &b, a, s, func(int, int) {}))
	return b.Bytes()
}

// embedded returns what a report has in place of the server's answers.
func embedded(file []byte) (document []byte, found bool) {
	_, after, begins := bytes.Cut(file, []byte(`<script type="application/json" id="report">`))
	document, _, ends := bytes.Cut(after, []byte("</script>"))
	return document, begins && ends
}

type reported struct {
	Subject   webui.Subject
	Documents map[string]struct {
		Command   string
		Result    json.RawMessage
		Shortened bool
		Error     *report.Problem
	}
}

func documentsOf(t *testing.T, file []byte) reported {
	t.Helper()
	document, found := embedded(file)
	require.True(t, found)
	var r reported
	require.NoError(t, json.Unmarshal(document, &r))
	return r
}

// TestReportIsBounded checks that the report of a huge process stays within the limit and lists its missing parts.
func TestReportIsBounded(t *testing.T) {
	document := 1 << 20 // bytes, about
	if !testcase.Complete() {
		document >>= 4
	}
	for name, row := range map[string]string{
		"many rows":       `{"type":"System.String","address":"0x7f0000001000","count":12345678901234567890}`,
		"long names":      `{"type":"` + strings.Repeat("Very.Long.Name<", 4000) + `","address":"0x7f0000001000"}`,
		"long inner list": `{"type":"x","frames":[` + strings.Repeat(`{"name":"System.Threading.Thread.Sleep(Int32)"},`, 12000) + `{}]}`,
		"escapes":         `{"type":"` + strings.Repeat("<<<<>>>>&&&&", 400) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := asker{ask: func(_ context.Context, words []string, part report.Window, w io.Writer) {
				fmt.Fprintf(w, `{"command":%q,"schema":2,"result":{"rows":[`, words[0])
				for i := range max(2, min(part.Count, document/len(row))) {
					if i > 0 {
						_, _ = io.WriteString(w, ",")
					}
					if _, err := io.WriteString(w, row); err != nil {
						return
					}
				}
				_, _ = io.WriteString(w, `]}}`)
			}}
			file := write(t, a, webui.Subject{File: "core.1"})
			assert.LessOrEqual(t, len(file), webui.MaxReport)
			r := documentsOf(t, file)
			assert.NotEmpty(t, r.Documents)
			for key, d := range r.Documents {
				assert.True(t, d.Result != nil || d.Error != nil, key)
			}
		})
	}
}

// TestReportFollows checks that linked documents are asked for, each address once.
func TestReportFollows(t *testing.T) {
	a := asker{ask: func(_ context.Context, words []string, _ report.Window, w io.Writer) {
		result := "{}"
		switch words[0] {
		case "leaks":
			result = `{"suspects":[{"point":{"address":"0x7f01"},"owner":{"address":"0x7f02"}},{"point":{"address":"0x7f01"}}]}`
		case "crashinfo":
			result = `{"exceptions":[{"address":"0x7f03"}]}`
		}
		fmt.Fprintf(w, `{"command":%q,"schema":2,"result":%s}`, words[0], result)
	}}
	r := documentsOf(t, write(t, a, webui.Subject{File: "core.1"}))
	for _, key := range []string{"doctor", "crashinfo", "leaks", "dumpheap -stat", "dumpobj 0x7f01", "dumpobj 0x7f02", "dumpobj 0x7f03", "gcroot 0x7f03", "referrers 0x7f02"} {
		assert.Contains(t, r.Documents, key)
	}
	assert.NotContains(t, r.Documents, "dumpobj $")
}

// TestReportLinks checks the order in which linked addresses are asked for. Addresses that are not objects are left
// out. The addresses of a sentence are its arguments; its text is not searched.
func TestReportLinks(t *testing.T) {
	var asked []string
	a := asker{ask: func(_ context.Context, words []string, _ report.Window, w io.Writer) {
		result := "{}"
		switch strings.Join(words, " ") {
		case "locks":
			result = `{"locks":[{"address":"0x7f0000000003","text":"held by 00007f0000000004, 00007f0000000006 and 0x11","args":[{"address":"0x7f0000000004"},{"address":"0x11"}]}]}`
		case "waits":
			result = `{"threads":[{"object":"0x7f0000000002","ip":"0x7f00000000ff"}]}`
		case "dumpobj 0x7f0000000004":
			result = `{"fields":[{"value":"0x7f0000000005"},{"value":"0x7f0000000002"}]}`
		}
		if words[0] == "dumpobj" {
			asked = append(asked, words[1])
			if words[1] == "0x7f00000000ff" {
				fmt.Fprint(w, `{"command":"dumpobj","schema":2,"error":{"text":"no object","kind":"corrupt"}}`)
				return
			}
		}
		fmt.Fprintf(w, `{"command":%q,"schema":2,"result":%s}`, words[0], result)
	}}
	r := documentsOf(t, write(t, a, webui.Subject{File: "core.1", Others: []string{"core.2"}}))
	assert.Equal(t, []string{"0x7f00000000ff", "0x7f0000000002", "0x7f0000000003", "0x7f0000000004", "0x7f0000000005"}, asked)
	assert.NotContains(t, r.Documents, "dumpobj 0x7f00000000ff")
	assert.Contains(t, r.Documents, "dumpobj 0x7f0000000005")
	assert.Contains(t, r.Documents, "diff -paths core.2")
}

// TestReportHolds: names that are markup, that end elements or turn text stay texts in JSON.
func TestReportHolds(t *testing.T) {
	hostile := "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028\u202e&amp;'\""
	a := asker{ask: func(_ context.Context, words []string, _ report.Window, w io.Writer) {
		e := report.NewJSONEncoder(w, words[0])
		_ = e.Value(map[string]any{"name": hostile})
		_ = e.Close(nil, nil)
	}}
	file := write(t, a, webui.Subject{File: hostile})
	for _, bad := range []string{"alert(1)</script>", "<img", "\u202e"} {
		assert.False(t, bytes.Contains(file, []byte(bad)), bad)
	}
	assert.Equal(t, 2, bytes.Count(file, []byte("<script")), "the documents and the application")
	r := documentsOf(t, file)
	assert.Equal(t, hostile, r.Subject.File)
	var result struct{ Name string }
	require.NoError(t, json.Unmarshal(r.Documents["doctor"].Result, &result))
	assert.Equal(t, hostile, result.Name)
}

// TestReportAsksNobody checks that a report loads nothing from elsewhere, and that its policy allows scripts only by
// their hashes.
func TestReportAsksNobody(t *testing.T) {
	file := string(write(t, echo, webui.Subject{File: "core.1"}))
	assert.NotRegexp(t, `(src|href)="?(https?:|//)`, file)
	assert.Regexp(t, `content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'"`, file)
}

// TestReportStops: an end of the context, or a disk that is full, is an error.
func TestReportStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, webui.WriteReport(ctx, io.Discard, echo, webui.Subject{}, func(int, int) {}), context.Canceled)
	require.ErrorIs(t, webui.WriteReport(t.Context(), brokenWriter{}, echo, webui.Subject{}, func(int, int) {}), errDisk)
}
