package sqlpools

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Exceptions of failed commands, and the objects that lead to the command. SqlClient named its errors differently up to
// version 5.
type (
	// A clientLink is a connection of SqlClient. The id of a connection changes when it is routed.
	clientLink struct {
		_     objects.Shape      `of:"Microsoft.Data.SqlClient.Connection.SqlConnectionInternal|Microsoft.Data.SqlClient.SqlInternalConnectionTds|System.Data.SqlClient.SqlInternalConnectionTds"`
		ID    objects.ValueField `field:"_clientConnectionId,optional"`
		First objects.ValueField `field:"_originalClientConnectionId,optional"`
		Owner objects.RefField   `field:"_owningObject"`
		Pool  objects.RefField   `field:"<Pool>|_connectionPool,optional"`
	}
	clientException struct {
		_      objects.Shape      `of:"Microsoft.Data.SqlClient.SqlException|System.Data.SqlClient.SqlException"`
		ID     objects.ValueField `field:"_clientConnectionId,optional"`
		Errors objects.RefField   `field:"_errors,optional"`
		Batch  objects.RefField   `field:"_batchCommand,optional"`
	}
	clientErrors struct {
		List objects.RefField `field:"_errors"`
	}
	clientError struct {
		Number objects.IntField `field:"_number|<Number>|number"`
	}
	clientBatchCommand struct {
		Text objects.RefField `field:"_text|_commandText"`
	}
	sourceException struct {
		_       objects.Shape    `of:"Npgsql.NpgsqlException"`
		Command objects.RefField `field:"<BatchCommand>,optional"`
	}
	serverException struct {
		_     objects.Shape    `of:"Npgsql.PostgresException"`
		State objects.RefField `field:"<SqlState>"`
	}
	sourceBatchCommand struct {
		Text  objects.RefField `field:"_commandText"`
		Final objects.RefField `field:"<FinalCommandText>,optional"`
	}
)

// noID is the text of a Guid that was not set.
const noID = "00000000-0000-0000-0000-000000000000"

// failed records an exception of a command or a connection of SqlClient, and reports whether o is one.
func (q *query) failed(o objects.Object) bool {
	if s, x := shapes.BindAs[*clientLink](q.Reading, o); s != nil {
		for _, f := range []*objects.ValueField{&s.ID, &s.First} {
			if id := q.id(f, x); id != "" {
				q.links[id] = o
			}
		}
		return true
	}
	for _, is := range []func(*objects.Binder, *objects.Type) (bool, error){objects.IsShape[*clientException], objects.IsShape[*sourceException]} {
		if ok, _ := is(q.Binder, o.Type); ok {
			q.exceptions = append(q.exceptions, o)
			return true
		}
	}
	return false
}

// id returns the Guid in a field as text, or "" if it was not set or is unreadable.
func (q *query) id(f *objects.ValueField, x objects.Instance) string {
	if !f.Has() {
		return ""
	}
	v := f.Value(x)
	if v.Err() != nil {
		q.Note(v.Err())
		return ""
	}
	if s := q.Plain(v, len(noID)); s != noID {
		return s
	}
	return ""
}

// maxFailures bounds the groups of equal failures.
const maxFailures = 1000

// failures describes the failed commands. Equal failures share a row with their number.
func (q *query) failures() {
	type key struct {
		kind, code, command, method string
		pool                        target.Addr
	}
	index := map[key]int{}
	for _, o := range q.exceptions {
		f := q.failure(o)
		k := key{kind: f.Type.S, code: f.Code, method: f.Method.S, pool: f.Pool}
		if f.Command != nil {
			k.command = f.Command.Text.S
		}
		n, known := index[k]
		switch {
		case known:
			q.out.Failures[n].Count++
		case len(q.out.Failures) == maxFailures:
			q.out.MoreFailures++
		default:
			index[k] = len(q.out.Failures)
			q.out.Failures = append(q.out.Failures, f)
		}
	}
}

// failure describes the exception of a failed command.
func (q *query) failure(o objects.Object) answer.SQLFailure {
	x, _ := flows.Exception(q.Reading, o)
	out := answer.SQLFailure{Object: x.Object, Type: x.Type, Message: x.Message, Count: 1, Method: q.thrower(o)}
	if s, x := shapes.BindAs[*clientException](q.Reading, o); s != nil {
		q.clientFailure(&out, s, x)
	} else if s, x := shapes.BindAs[*sourceException](q.Reading, o); s != nil {
		if p, at := shapes.BindAs[*serverException](q.Reading, o); p != nil {
			out.Code = q.TextAt(&p.State, at).S
		}
		if c, at := shapes.BindAt[*sourceBatchCommand](q.Reading, &s.Command, x); c != nil {
			text := q.TextAt(&c.Text, at)
			if text.IsZero() {
				text = q.TextAt(&c.Final, at)
			}
			out.Command = newCommand(q.PointerAt(&s.Command, x).Value, text)
			out.Strength = answer.StrengthRecorded
		}
	}
	return out
}

// clientFailure adds the command of a batch that failed, or the connection of an exception and the command created for
// it.
func (q *query) clientFailure(out *answer.SQLFailure, s *clientException, x objects.Instance) {
	if e, at := shapes.BindAt[*clientErrors](q.Reading, &s.Errors, x); e != nil {
		list, _ := q.list(q.items.Objects(&e.List, at))
		if len(list) > 0 {
			if first, at := shapes.BindAs[*clientError](q.Reading, list[0]); first != nil {
				if n := q.IntAt(&first.Number, at); n.Err() == nil {
					out.Code = fmt.Sprint(n.Value)
				}
			}
		}
	}
	if c, at := shapes.BindAt[*clientBatchCommand](q.Reading, &s.Batch, x); c != nil {
		out.Command = newCommand(q.PointerAt(&s.Batch, x).Value, q.TextAt(&c.Text, at))
		out.Strength = answer.StrengthRecorded
	}
	link, ok := q.links[q.id(&s.ID, x)]
	if !ok {
		return
	}
	c, at := shapes.BindAs[*clientLink](q.Reading, link)
	if c == nil {
		return
	}
	out.Connection, out.Pool = link.Addr, q.PointerAt(&c.Pool, at).Value
	owner := q.weak(&c.Owner, at)
	if out.Command != nil || owner.Err() != nil || owner.Value == 0 || q.commandsOf[owner.Value] != 1 {
		return // the failed one of several commands is unknown
	}
	command := q.made[owner.Value]
	if s, x := shapes.BindAs[*clientCommand](q.Reading, command); s != nil && q.PointerAt(&s.State, x).Value == 0 {
		out.Command = q.clientCommand(command, false, nil, 0)
		out.Strength = answer.StrengthLikely
	}
}

// thrower returns the innermost method of the program in the stack trace of an exception.
func (q *query) thrower(o objects.Object) answer.Text {
	rt := q.Binder.Objects().Runtime()
	e, err := rt.Exception(o.Addr)
	if err != nil {
		return q.Text("", err)
	}
	frames, err := rt.StackTrace(&e)
	for i := range frames {
		md, merr := dac.CodeOf(rt).MethodDesc(frames[i].Method)
		if merr != nil {
			continue
		}
		name, merr := stackwalk.ShortName(rt, md)
		if merr != nil {
			return q.Text("", merr) // it may be the program's
		}
		if answer.LibraryMethod(name) {
			continue
		}
		if own, _ := md.Name(); own == "MoveNext" {
			if class, cerr := rt.TypeName(md.MethodTable, dac.NameManaged); cerr == nil {
				name = compilernames.Method(class)
			}
		}
		return answer.Text{S: name}
	}
	return q.Text("", err)
}
