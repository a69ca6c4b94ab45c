package triage

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestNeverOpened: requests that the process serves wait for connections, none was opened, and neither a time limit nor the server records since when. Where
// no request that it serves does, or some are served otherwise, it is only unknown. With a connection that was opened, or an age, it is judged by ages alone.
func TestNeverOpened(t *testing.T) {
	unknown := answer.Missing[int64](target.ErrUnsupported)
	for name, c := range map[string]struct {
		waiting, opening, count int64
		age                     answer.Maybe[int64]
		behind, served          int
		clocked                 bool
		finding, unread         bool
	}{
		"all wait":        {25, 25, 25, unknown, 25, 25, false, true, false},
		"half of them":    {6, 6, 6, unknown, 6, 12, false, true, false},
		"others go on":    {6, 6, 6, unknown, 6, 13, false, false, true},
		"serves nothing":  {6, 6, 6, unknown, 0, 0, false, false, true},
		"few":             {4, 4, 4, unknown, 4, 4, false, false, false},
		"one is open":     {25, 24, 25, unknown, 25, 25, false, false, false},
		"nothing opens":   {25, 0, 0, unknown, 25, 25, false, false, false},
		"young":           {25, 25, 25, answer.Known[int64](200), 25, 25, false, false, false},
		"served a moment": {25, 25, 25, unknown, 25, 25, true, false, false},
	} {
		q := healthy()
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		pool := answer.HTTPPool{Address: 0x99, Host: answer.Text{S: "api"}, Port: answer.Known[int64](80), Max: unknown, Count: answer.Known(c.count), Opening: answer.Known(c.opening)}
		for i := range c.waiting {
			pool.Waiting = append(pool.Waiting, answer.HTTPWait{Age: c.age, Stack: &answer.AsyncWork{Remote: answer.WaitConnection, Frames: []answer.AsyncFrame{{Object: target.Addr(0x1000 + i)}}}})
		}
		list := &answer.Requests{}
		for i := range c.served {
			r := answer.Request{Context: target.Addr(i + 1), State: "in the application", Server: "Kestrel", Stack: &answer.AsyncWork{Frames: []answer.AsyncFrame{{Object: target.Addr(0x9000 + i)}}}}
			if i < c.behind {
				r.Stack = pool.Waiting[i].Stack
			}
			if c.clocked {
				r.Started, list.Now = &now, &now
			}
			list.Requests = append(list.Requests, r)
		}
		q.Requests = Got(list, nil)
		q.HTTPClients = Got(&answer.HTTPClients{Pools: []answer.HTTPPool{pool}}, nil)
		out, err := Judge(context.Background(), q, Options{})
		require.NoError(t, err)
		unread := false
		for _, u := range out.Unknown {
			unread = unread || u.Subject == "HTTP clients"
		}
		assert.Equal(t, c.unread, unread, name)
		if !c.finding {
			assert.Empty(t, out.Findings, name)
			continue
		}
		require.Len(t, out.Findings, 1, name)
		f := &out.Findings[0]
		assert.Equal(t, answer.FindingDependency, f.Kind, name)
		assert.Equal(t, answer.SeverityWarning, f.Severity, name)
		assert.Equal(t, answer.StrengthPossible, f.Strength, name)
		assert.Contains(t, f.Text, "requests wait for a connection to api:80 (", name)
		assert.Contains(t, f.Text, "are being opened), and no other is open; the dump does not record since when", name)
	}
}
