package sqlpools_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/target"
)

// TestConclude checks that a pool is exhausted only by known numbers, and that the number of waiting calls
// distinguishes waiting from opening calls.
func TestConclude(t *testing.T) {
	n, missing := answer.Known[int64], answer.Missing[int64](target.ErrNotInDump)
	for name, tt := range map[string]struct {
		max, busy, waiting answer.Maybe[int64]
		exhausted          answer.Maybe[bool]
		does               string
	}{
		"all are busy":     {n(4), n(4), n(2), answer.Known(true), answer.SQLWaits},
		"some are free":    {n(4), n(3), n(0), answer.Known(false), answer.SQLOpens},
		"no limit":         {n(0), n(3), n(1), answer.Known(false), answer.SQLWaitsOrOpens},
		"limit is missing": {missing, n(4), missing, answer.Missing[bool](target.ErrNotInDump), answer.SQLWaitsOrOpens},
		"use is missing":   {n(4), missing, n(3), answer.Missing[bool](target.ErrNotInDump), answer.SQLWaits},
	} {
		p := answer.SQLPool{Max: tt.max, Busy: tt.busy, Waiting: tt.waiting, Opening: make([]answer.SQLOpening, 2), Connections: []answer.SQLConnection{
			{Owner: answer.Pointer{Maybe: answer.Known[target.Addr](0x10)}}, {Owner: answer.Pointer{Maybe: answer.Known[target.Addr](0)}}, {Owner: answer.Pointer{Maybe: answer.Missing[target.Addr](target.ErrNotInDump)}},
		}}
		sqlpools.Conclude(&p)
		assert.Equal(t, tt.exhausted.Err(), p.Exhausted.Err(), name)
		assert.Equal(t, tt.exhausted.Err() == nil && tt.exhausted.Value, p.Exhausted.Err() == nil && p.Exhausted.Value, name)
		assert.Equal(t, tt.does, p.Opening[1].Does, name)
		assert.False(t, p.Connections[0].Leaked)
		assert.True(t, p.Connections[1].Leaked)
		assert.False(t, p.Connections[2].Leaked, "an owner that could not be read is not gone")
	}
}
