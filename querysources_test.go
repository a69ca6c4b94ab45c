package sosgo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
)

// TestSourcesOfRows checks each source on every dump: a row has a value per column, an error is one of the three
// kinds, and iteration can stop early. Package query compares the values with the heap's own lists.
func TestSourcesOfRows(t *testing.T) {
	var seen int
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		if err == nil {
			_, err = v.Runtime()
		}
		if err != nil {
			require.True(t, testdump.Typed(err), "%v", err)
			_, err = rows.Env(v.Process)
			require.True(t, testdump.Typed(err), "%v", err)
			return
		}
		p, err := rows.Env(v.Process)
		require.NoError(t, err)
		for _, s := range p.Sources {
			n := 0
			for row, err := range s.Rows(t.Context()) {
				if n++; n > 2000 {
					break
				}
				if err != nil {
					assert.True(t, testdump.Typed(err), "%s: %v", s.Name, err)
					continue
				}
				require.Len(t, row, len(s.Columns), s.Name)
				seen++
			}
			for range s.Rows(t.Context()) {
				break
			}
		}
	})
	require.Positive(t, seen)
}

// queryRows returns the rows of a query, with values as text.
func queryRows(t *testing.T, d *testdump.Dump, question string) (out [][]string) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	p, err := rows.Env(v.Process)
	require.NoError(t, err)
	got, err := query.Run(t.Context(), p, question, query.Options{})
	require.NoError(t, err, question)
	for row, err := range got.Rows {
		require.NoError(t, err, question)
		var texts []string
		for i := range row.Cells {
			texts = append(texts, row.Cells[i].Plain())
		}
		out = append(out, texts)
	}
	return out
}

// TestTasksAsked checks the states of tasks against the program's output, and async methods by their awaits.
func TestTasksAsked(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	states := map[string]string{}
	for _, row := range queryRows(t, d, "from tasks | select addr(task), status") {
		states[row[0]] = row[1]
	}
	n := 0
	for name, values := range d.Manifest.Facts {
		if !strings.HasPrefix(name, "task ") {
			continue
		}
		var list []string
		require.NoError(t, json.Unmarshal(values, &list), name)
		assert.Equal(t, list[0], states[strings.Fields(list[1])[0]], name)
		n++
	}
	assert.Equal(t, 16, n)
	got := queryRows(t, d, `from tasks | where method like '%.Gated' | select method, awaits, state`)
	assert.Equal(t, [][]string{{"Debuggee.AsyncWork.Scenario.Gated", "SemaphoreSlim.WaitAsync", "0"}}, got)
}

// TestFramesAsked checks that a frame without a method has a null method and the name that clrstack shows.
func TestFramesAsked(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	explicit := queryRows(t, d, "from frames | where kind == 'explicit' | select method, name")
	require.NotEmpty(t, explicit)
	for _, row := range explicit {
		assert.Equal(t, "null", row[0])
		assert.NotEqual(t, "null", row[1])
	}
}

// TestRequestsAsked checks that the rows equal the command's answer.
func TestRequestsAsked(t *testing.T) {
	testdump.Corpus(t, testcase.Named("web-*"), func(t *testing.T, d *testdump.Dump) int {
		got := queryRows(t, d, "from requests | where status == 101 | select method, path, query, server")
		assert.Equal(t, [][]string{{"GET", "/chat", "?room=lobby", "Kestrel"}}, got)
		return len(got)
	})
}

// TestRowNames checks that a name that is neither a column nor a member is an error with a suggestion.
func TestRowNames(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	p, err := rows.Env(v.Process)
	require.NoError(t, err)
	for question, want := range map[string]string{
		"from tasks | select stats":               "no column of tasks is named stats, and no field of the rows' objects; did you mean status?",
		"from tasks | where frobnicate == 1":      "the columns are task, status, method, state, awaits",
		"from threads | select nam":               "did you mean name?",
		"from threads | select id":                "did you mean osid or managed?",
		"from threads | where a.b == 1":           "no column of threads is named a",
		"from frames | select function":           "no column of frames is named function; the columns are thread, frame, method, file, line",
		"from tasks | select m_stateFlags":        "",
		"from threads | select _message, HResult": "",
	} {
		got, err := query.Run(t.Context(), p, question, query.Options{})
		if want != "" {
			assert.ErrorContains(t, err, want, question)
			assert.ErrorAs(t, err, new(*query.Error), question)
			continue
		}
		require.NoError(t, err, question)
		for _, err := range got.Rows {
			require.NoError(t, err, question)
		}
		assert.Empty(t, got.Noted(), question)
	}
}

// TestRowNamesUnread checks that, if some types are unreadable, an unknown name is reported after the rows are read.
func TestRowNamesUnread(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	v, err := d.View("")
	require.NoError(t, err)
	p, err := rows.Env(v.Process)
	require.NoError(t, err)
	got, err := query.Run(t.Context(), p, "from tasks | where frobnicate == 1", query.Options{})
	if err != nil {
		assert.ErrorContains(t, err, "no column of tasks is named frobnicate")
		return
	}
	for _, err := range got.Rows {
		require.NoError(t, err)
	}
	require.Len(t, got.Noted(), 1)
	assert.ErrorContains(t, got.Noted()[0], "the columns are")
}
