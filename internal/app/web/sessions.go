package web

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Sessions of ASP.NET Core. A request has a DistributedSession, which reads the session on the first access and writes
// it back when the request ends. Between requests the session is in an IDistributedCache as an array of bytes. The
// names come from the sources of 3.1 to 10.
type (
	sessionAnchor struct {
		_ objects.Shape `of:"Microsoft.AspNetCore.Session.DistributedSessionStore|Microsoft.AspNetCore.Session.DistributedSession"`
	}
	sessionStore struct {
		_     objects.Shape    `of:"Microsoft.AspNetCore.Session.DistributedSessionStore"`
		Cache objects.RefField `field:"_cache"`
	}
	session struct {
		_         objects.Shape    `of:"Microsoft.AspNetCore.Session.DistributedSession"`
		Cache     objects.RefField `field:"_cache"`
		Key       objects.RefField `field:"_sessionKey"`
		Store     objects.RefField `field:"_store"`
		Modified  objects.IntField `field:"_isModified"`
		Loaded    objects.IntField `field:"_loaded"`
		Available objects.IntField `field:"_isAvailable"`
		New       objects.IntField `field:"_isNewSessionKey"`
		ID        objects.RefField `field:"_sessionIdBytes"`
	}
	// A sessionValues holds the values of a loaded session. Up to .NET 5 they are in a dictionary of the session.
	sessionValues struct {
		_     objects.Shape    `of:"Microsoft.AspNetCore.Session.DefaultDistributedSessionStore"`
		Store objects.RefField `field:"_store"`
	}
	sessionKey struct {
		_     objects.Shape    `of:"Microsoft.AspNetCore.Session.EncodedKey"`
		Bytes objects.RefField `field:"<KeyBytes>"`
	}
	sessionFeature struct {
		_       objects.Shape    `of:"Microsoft.AspNetCore.Session.SessionFeature|Microsoft.AspNetCore.Http.Features.DefaultSessionFeature"`
		Session objects.RefField `field:"<Session>"`
	}
	// A memoryStore is the IDistributedCache in the process's memory.
	memoryStore struct {
		_     objects.Shape    `of:"Microsoft.Extensions.Caching.Distributed.MemoryDistributedCache"`
		Cache objects.RefField `field:"_memCache"`
	}
	storedSession struct {
		_        objects.Shape      `of:"Microsoft.Extensions.Caching.Memory.CacheEntry"`
		Key      objects.ValueField `field:"<Key>"`
		Value    objects.ValueField `field:"_value|<Value>"`
		Accessed objects.IntField   `field:"<LastAccessed>._dateData|<LastAccessed>._dateTime._dateData,optional"`
		Expires  objects.IntField   `field:"_absoluteExpirationTicks|<AbsoluteExpiration>.value._dateTime._dateData|_absoluteExpiration.value._dateTime._dateData,optional"`
		Sliding  objects.ValueField `field:"_slidingExpiration,optional"`
	}
)

// The format of a stored session (DistributedSession.Serialize): a revision, the number of values in 3 bytes, and the
// id. For each value follow the length of its name in 2 bytes, the name in UTF-8, the length of the value in 4 bytes,
// and the value. Numbers are big-endian.
const (
	sessionRevision = 2
	sessionIDBytes  = 16
	sessionHead     = 1 + 3 + sessionIDBytes
)

// SessionOptions selects sessions and their details.
type SessionOptions struct {
	User     string `opt:"user" help:"only sessions of users whose name contains this"`
	Values   bool   `opt:"values" help:"with the values of the sessions"`
	Retained bool   `opt:"retained" help:"with the memory that would be freed with each session"`
	Secrets  bool   `opt:"secrets" reveals:"true" help:"show secrets instead of masking them"`
	Scan     heap.ScanOptions
}

// A sessionQuery builds one answer.
type sessionQuery struct {
	*Reader
	g   shapes.Reading
	o   SessionOptions
	out *answer.Sessions

	stores map[target.Addr]int // by IDistributedCache: its index
	byKey  map[string]int      // by the store and the key: the index of the session
}

// Sessions lists the sessions of ASP.NET Core: sessions in use by requests, and sessions stored in a cache of the
// process.
func (r *Reader) Sessions(ctx context.Context, p *process.Process, h *heap.Heap, o SessionOptions) (*answer.Sessions, error) {
	q := &sessionQuery{Reader: r, o: o, out: &answer.Sessions{Stores: []answer.SessionStore{}, Sessions: []answer.Session{}, Users: []answer.SessionUser{}},
		stores: map[target.Addr]int{}, byKey: map[string]int{}}
	q.g = r.reading(&q.out.Gaps)
	var live []objects.Object
	for object := range shapes.ReadObjects[*sessionAnchor](ctx, q.g, h, o.Scan) {
		if s, x := shapes.BindAs[*sessionStore](q.g, object); s != nil {
			q.store(q.g.ObjectAt(&s.Cache, x))
			continue
		}
		live = append(live, object)
		if s, x := shapes.BindAs[*session](q.g, object); s != nil {
			q.store(q.g.ObjectAt(&s.Cache, x))
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(live) > 0 {
		requests, err := r.Requests(ctx, p, h, RequestOptions{Brief: true, Scan: o.Scan})
		if err != nil {
			return nil, err
		}
		q.out.NoteAll(requests.Noted())
		of := map[target.Addr]*answer.Request{}
		for i := range requests.Requests {
			if s := requests.Requests[i].Session; s != 0 {
				of[s] = &requests.Requests[i]
			}
		}
		for _, object := range live {
			q.live(object, of[object.Addr])
		}
	}
	q.finish(ctx)
	return q.out, ctx.Err()
}

// store adds an IDistributedCache and the sessions in it.
func (q *sessionQuery) store(o objects.Object) {
	if _, ok := q.stores[o.Addr]; ok || o.Addr == 0 {
		return
	}
	n := len(q.out.Stores)
	q.stores[o.Addr] = n
	q.out.Stores = append(q.out.Stores, answer.SessionStore{Address: o.Addr, Type: q.g.TypeText(o)})
	m, x := shapes.BindAs[*memoryStore](q.g, o)
	if m == nil {
		return
	}
	s := &q.out.Stores[n]
	s.Here = true
	nSessions, nOthers, lost := int64(0), int64(0), error(nil)
	cache := q.g.ObjectAt(&m.Cache, x)
	if cache.Addr == 0 {
		lost = objects.ErrNoField
	} else {
		for e, err := range q.items.CacheEntries(cache) {
			var is bool
			if err == nil {
				is, err = q.rests(o.Addr, e)
			}
			switch {
			case err != nil:
				q.g.Note(err)
				lost = cmp.Or(lost, err)
			case is:
				nSessions++
			default:
				nOthers++
			}
		}
	}
	sessions, others := answer.Of(nSessions, lost), answer.Of(nOthers, lost)
	s.Sessions, s.Others = &sessions, &others
}

// row returns the session with a key in a store, and adds it if it is missing.
func (q *sessionQuery) row(store target.Addr, key answer.Text, of target.Addr) *answer.Session {
	name := fmt.Sprintf("%x %s", uint64(store), key.S)
	if key.Err != nil || key.S == "" {
		name = fmt.Sprintf("of %x", uint64(of)) // a session without a key
	}
	if n, ok := q.byKey[name]; ok {
		return &q.out.Sessions[n]
	}
	q.byKey[name] = len(q.out.Sessions)
	q.out.Sessions = append(q.out.Sessions, answer.Session{Store: store, Key: key, ID: answer.Text{Err: objects.ErrNoField}})
	return &q.out.Sessions[len(q.out.Sessions)-1]
}

// rests adds the session of a cache entry, and reports whether the entry holds a session.
func (q *sessionQuery) rests(store target.Addr, o objects.Object) (bool, error) {
	s, x, err := objects.BindObject[*storedSession](q.b, o)
	if err != nil {
		return false, err
	}
	v := s.Value.Value(x)
	if v.Err() == nil && v.IsNull() {
		return false, nil
	}
	value, err := v.Object()
	if err != nil {
		return false, err
	}
	a, err := value.Array()
	if err != nil || a.Rank != 1 || a.Type.MT.ComponentSize != 1 {
		return false, nil //nolint:nilerr // it is no array of bytes
	}
	data, err := q.bytes(&a)
	if err != nil {
		return false, err
	}
	id, values, ok := serialized(data)
	if !ok {
		return false, nil
	}
	key := q.g.Text(s.Key.Value(x).Start(limits.RequestText))
	row := q.row(store, key, o.Addr)
	row.ID = answer.Text{S: guid(id)}
	rest := &answer.RestingSession{Entry: o.Addr, Address: value.Addr, Bytes: int64(a.Len), Accessed: answer.Missing[time.Time](objects.ErrNoField)}
	if t := q.g.TimeAt(&s.Accessed, x); t != nil {
		rest.Accessed = answer.Known(*t)
	}
	if ticks := q.g.IntAt(&s.Expires, x); ticks.Err() == nil && ticks.Value > 0 {
		t, err := objects.DateTime(uint64(ticks.Value))
		if q.g.Note(err); err == nil {
			rest.Expires = &t
		}
	}
	if s.Sliding.Has() {
		if text := q.g.Plain(s.Sliding.Value(x), 0); text != "00:00:00" && text != "null" {
			rest.Sliding = text
		}
	}
	row.Rests = rest
	q.values(row, values)
	return true, nil
}

// bytes returns the bytes of an array.
func (q *sessionQuery) bytes(a *objects.Array) ([]byte, error) {
	if a.Len > limits.SessionBytes {
		return nil, target.Unsupportedf("array %016x has %d bytes, more than the %d that are read of a session", uint64(a.Addr), a.Len, limits.SessionBytes)
	}
	if a.Len == 0 {
		return nil, nil
	}
	return target.Bytes(q.b.Objects().Runtime().Memory(), a.At(0).Location(), int(a.Len))
}

// bytesAt returns the bytes of the array that a field refers to.
func (q *sessionQuery) bytesAt(f *objects.RefField, x objects.Instance) ([]byte, error) {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		return nil, err
	}
	return q.bytesOf(o)
}

func (q *sessionQuery) bytesOf(o objects.Object) ([]byte, error) {
	a, err := o.Array()
	if err == nil && a.Type.MT.ComponentSize != 1 {
		err = target.CorruptHeapf("object %016x is no array of bytes", uint64(o.Addr))
	}
	if err != nil {
		return nil, err
	}
	return q.bytes(&a)
}

// A sessionValue is a value with its name.
type sessionValue struct {
	name string
	data []byte
}

// serialized decodes a stored session. ok is false unless data is one session from its first byte to its last.
func serialized(data []byte) (id [sessionIDBytes]byte, values []sessionValue, ok bool) {
	if len(data) < sessionHead || data[0] != sessionRevision {
		return id, nil, false
	}
	count := int(data[1])<<16 | int(data[2])<<8 | int(data[3])
	copy(id[:], data[4:sessionHead])
	rest := data[sessionHead:]
	if count > len(rest)/6 {
		return id, nil, false
	}
	for range count {
		var name, value []byte
		if name, rest, ok = piece(rest, 2); !ok {
			return id, nil, false
		}
		if value, rest, ok = piece(rest, 4); !ok {
			return id, nil, false
		}
		values = append(values, sessionValue{string(name), value})
	}
	return id, values, len(rest) == 0
}

// piece reads a length of n bytes and returns as many bytes after it, and the rest.
func piece(b []byte, n int) (part, rest []byte, ok bool) {
	if len(b) < n {
		return nil, nil, false
	}
	var size [4]byte
	copy(size[4-n:], b)
	length := binary.BigEndian.Uint32(size[:])
	if b = b[n:]; uint64(length) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:length], b[length:], true
}

// guid formats bytes as System.Guid does.
func guid(b [sessionIDBytes]byte) string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:]), b[8:10], b[10:])
}

// live adds the session of a request.
func (q *sessionQuery) live(o objects.Object, of *answer.Request) {
	s, x := shapes.BindAs[*session](q.g, o)
	if s == nil {
		return
	}
	store := q.g.PointerAt(&s.Cache, x)
	row := q.row(store.Value, q.g.TextAt(&s.Key, x), o.Addr)
	live := answer.LiveSession{Address: o.Addr, New: q.g.BoolAt(&s.New, x)}
	if of != nil {
		live.Request, live.Method, live.Path = cmp.Or(of.Context, of.Object), of.Method, of.Path
		if of.User.S != "" || of.User.Err != nil {
			row.User, row.UserFrom = of.User, "request"
		}
	}
	loaded, available, modified := q.g.BoolAt(&s.Loaded, x), q.g.BoolAt(&s.Available, x), q.g.BoolAt(&s.Modified, x)
	err := cmp.Or(loaded.Err(), available.Err(), modified.Err())
	switch {
	case err != nil:
		live.State.Err, live.Bytes = err, answer.Missing[int64](err)
	case !loaded.Value:
		live.State.S, live.Bytes = "not loaded", answer.Missing[int64](objects.ErrNoField)
	case !available.Value:
		live.State.S, live.Bytes = "could not be loaded", answer.Missing[int64](objects.ErrNoField)
	default:
		live.State.S = "loaded"
		if modified.Value {
			live.State.S = "modified, not yet stored"
		}
		values, err := q.loaded(&s.Store, x)
		q.g.Note(err)
		size := 0
		for i := range values {
			size += len(values[i].name) + len(values[i].data)
		}
		live.Bytes = answer.Of(int64(size), err)
		if of != nil || row.Rests == nil && row.Values == nil {
			q.values(row, values)
		}
	}
	if id, err := q.bytesAt(&s.ID, x); err != nil {
		q.g.Note(err)
		row.ID.Err = err
	} else if len(id) == sessionIDBytes {
		row.ID = answer.Text{S: guid([sessionIDBytes]byte(id))}
	}
	row.Live = append(row.Live, live)
}

// loaded returns the values of a session that a request has loaded, by name. With an error, it returns the values read
// before.
func (q *sessionQuery) loaded(f *objects.RefField, x objects.Instance) ([]sessionValue, error) {
	var values []sessionValue
	if s, at := shapes.BindAt[*sessionValues](q.g, f, x); s != nil {
		f, x = &s.Store, at
	}
	for item, err := range q.items.ItemsAt(f, x) {
		var v sessionValue
		if err == nil {
			v, err = q.value(item.Key, item.Value)
		}
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
	slices.SortStableFunc(values, func(a, b sessionValue) int { return strings.Compare(a.name, b.name) })
	return values, nil
}

// value reads an entry of a session's dictionary.
func (q *sessionQuery) value(key, value objects.Value) (sessionValue, error) {
	k, err := key.Object()
	if err != nil {
		return sessionValue{}, err
	}
	s, x, err := objects.BindObject[*sessionKey](q.b, k)
	if err != nil {
		return sessionValue{}, err
	}
	name, err := q.bytesAt(&s.Bytes, x)
	if err != nil {
		return sessionValue{}, err
	}
	o, err := value.Object()
	if err != nil {
		return sessionValue{}, err
	}
	data, err := q.bytesOf(o)
	return sessionValue{string(name), data}, err
}

// IsSession reports whether a type is the one of sessions in use.
func IsSession(b *objects.Binder, t *objects.Type) bool {
	is, err := objects.IsShape[*session](b, t)
	return err == nil && is
}

// SessionValues yields the names and texts of the values of a session in use. Values without a text, and unreadable ones, are left out.
func SessionValues(b *objects.Binder, c *objects.Collections, o objects.Object) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		s, x, err := objects.BindObject[*session](b, o)
		if err != nil {
			return
		}
		q := &sessionQuery{Reader: New(b, c, nil)}
		q.g = q.reading(&answer.Gaps{})
		values, _ := q.loaded(&s.Store, x) // of others, what precedes the error
		texts(values, yield)
	}
}

// MayBeSession reports whether n bytes that begin with first may be a stored session.
func MayBeSession(first byte, n uint32) bool {
	return first == sessionRevision && n >= sessionHead && n <= limits.SessionBytes
}

// StoredValues yields the names and texts of the values of a stored session. Of other bytes it yields nothing.
func StoredValues(data []byte) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		if _, values, ok := serialized(data); ok {
			texts(values, yield)
		}
	}
}

// texts yields the values that are texts, with their names.
func texts(values []sessionValue, yield func(name, text string) bool) {
	for i := range values {
		if text, ok := valueText(values[i].data); ok && text != "" && !yield(values[i].name, text) {
			return
		}
	}
}

// userNames are value names, without punctuation, under which programs keep a user's name.
var userNames = []string{"username", "user", "loginname", "login", "useremail", "email", "userid", "accountname", "account"}

// values sets the values of a session, and the user if one of the values names it.
func (q *sessionQuery) values(row *answer.Session, values []sessionValue) {
	best := len(userNames)
	row.Values = make([]answer.SessionValue, 0, min(len(values), limits.SessionValues))
	row.MoreValues = 0
	if strings.HasPrefix(row.UserFrom, "value ") {
		row.User, row.UserFrom = answer.Text{}, ""
	}
	for i := range values {
		v := &values[i]
		text, isText := valueText(v.data)
		hidden := secrets.Hides(v.name, text)
		if isText && text != "" && !hidden && row.UserFrom != "request" {
			name := strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) {
					return unicode.ToLower(r)
				}
				return -1
			}, v.name)
			if n := slices.Index(userNames, name); n >= 0 && n < best {
				best, row.User, row.UserFrom = n, answer.Text{S: text}, "value "+v.name
			}
		}
		if len(row.Values) == limits.SessionValues {
			row.MoreValues++
			continue
		}
		out := answer.SessionValue{Name: strings.ToValidUTF8(v.name, "\ufffd"), Bytes: int64(len(v.data))}
		if q.o.Values {
			if out.Text = text; hidden && !q.o.Secrets {
				out.Text, out.Masked = masked, true
			}
		}
		row.Values = append(row.Values, out)
	}
}

// valueBytes is how many bytes of a binary value are shown.
const valueBytes = 32

// valueText returns a value as text: ISession.SetString stores UTF-8, and SetInt32 four bytes. ok is false for other
// values.
func valueText(b []byte) (string, bool) {
	if utf8.Valid(b) && !slices.ContainsFunc([]rune(string(b)), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) {
		return string(b), true
	}
	if len(b) == 4 {
		return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(b))), 10), false
	}
	if len(b) > valueBytes {
		return "0x" + hex.EncodeToString(b[:valueBytes]) + "…", false
	}
	return "0x" + hex.EncodeToString(b), false
}

// finish selects and sorts the sessions, and totals them by user.
func (q *sessionQuery) finish(ctx context.Context) {
	all := q.out.Sessions
	if q.o.User != "" {
		all = slices.DeleteFunc(all, func(s answer.Session) bool { return !contains(ctx, s.User.S, q.o.User) })
	}
	users := map[string]int{}
	for i := range all {
		s := &all[i]
		if s.Rests != nil {
			s.Bytes = s.Rests.Bytes
		}
		requests := 0
		for n := range s.Live {
			if s.Live[n].Request != 0 {
				requests++
				s.Bytes += s.Live[n].Bytes.Value
			}
		}
		name := s.User.String()
		n, ok := users[name]
		if !ok {
			n = len(q.out.Users)
			users[name] = n
			q.out.Users = append(q.out.Users, answer.SessionUser{User: s.User})
		}
		u := &q.out.Users[n]
		u.Sessions++
		u.Bytes += s.Bytes
		u.Requests += requests
	}
	slices.SortStableFunc(all, func(a, b answer.Session) int { return cmp.Compare(b.Bytes, a.Bytes) })
	slices.SortStableFunc(q.out.Users, func(a, b answer.SessionUser) int { return cmp.Compare(b.Bytes, a.Bytes) })
	q.out.Sessions = all
}
