package ask

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Env returns the environment for expressions and queries: the session's view, its current thread and the variables
// $_ and $thread.
func Env(c *cli.Context) (*query.Env, error) {
	p, err := rows.Env(View(c))
	if err != nil {
		return nil, err
	}
	p.Graph = GraphOptions(c)
	p.Thread = func() (*stackwalk.Thread, error) {
		list, err := Threads(c)
		if err != nil {
			return nil, err
		}
		return CurrentThread(c, list), nil
	}
	p.Variables = map[string]query.Value{}
	if a, ok := c.Session.Last(); ok {
		p.Variables["$_"] = query.Address(a)
	}
	if id, ok := c.Session.Thread(); ok {
		p.Variables["$thread"] = query.Uint(uint64(id))
	}
	p.Scan = Scan(c, "searching the heap")
	return p, nil
}

// Misread turns an error in the user's expression into a usage error. It keeps an error that missing or damaged
// memory may explain.
func Misread(c *cli.Context, err error) error {
	misread := errors.As(err, new(*query.Error)) || errors.Is(err, query.ErrNoAnswer)
	if misread && !errors.Is(err, target.ErrNotInDump) && !errors.Is(err, target.ErrCorrupt) {
		return c.Usagef("%v", err)
	}
	return err
}

// EchoHeads declares the heads of an answer's columns; see cli.Context.EchoHeads.
func EchoHeads(c *cli.Context, columns []answer.QueryColumn) {
	heads := make([]string, len(columns))
	for i := range columns {
		heads[i] = columns[i].Name
	}
	c.EchoHeads(heads...)
}
