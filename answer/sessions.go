package answer

import (
	"time"

	"github.com/sosgo/sosgo/target"
)

// Sessions lists the sessions of ASP.NET Core: those of requests, and those stored in a cache of the process.
type Sessions struct {
	Gaps
	Stores   []SessionStore `json:"stores" doc:"the caches in which sessions rest between two requests" text:"stores|sessions"`
	Users    []SessionUser  `json:"users" doc:"the sessions by user, the most bytes first" text:"users|sessions;table"`
	Sessions []Session      `json:"sessions" doc:"the sessions, the largest first"`
	Retained *int64         `json:"retained,omitempty" doc:"with -retained: bytes that would be free without the sessions of this answer, their sizes added up" text:"all retain % bytes"`
}

// A SessionStore is an IDistributedCache with stored sessions.
type SessionStore struct {
	Address  target.Addr   `json:"address" doc:"the IDistributedCache"`
	Type     Text          `json:"type" doc:"its type"`
	Here     bool          `json:"here" doc:"its sessions rest in this process; else those between two requests are not in the dump" text:"|sessions rest outside of the process, those between two requests are not in the dump"`
	Sessions *Maybe[int64] `json:"sessions,omitempty" doc:"sessions that rest in it, if they do in this process" text:"% session rests here|% sessions rest here"`
	Others   *Maybe[int64] `json:"others,omitempty" doc:"its entries that are no sessions" text:"% entry that is no session|% entries that are no sessions;nonzero"`
}

// A SessionUser is a user with its sessions.
type SessionUser struct {
	User     Text   `json:"user,omitzero" doc:"name of the user; none for sessions without a name" text:"=|(no name)"`
	Sessions int    `json:"sessions" doc:"its sessions"`
	Requests int    `json:"requests" doc:"requests that have one of them"`
	Bytes    int64  `json:"bytes" doc:"bytes of their data in this process"`
	Retained *int64 `json:"retained,omitempty" doc:"with -retained: bytes that would be free without them, their sizes added up"`
}

// A Session is what a server keeps for a client.
type Session struct {
	Key        Text            `json:"key" doc:"key under which it rests; the cookie of the client has it encrypted" text:"="`
	ID         Text            `json:"id,omitzero" doc:"ISession.Id"`
	User       Text            `json:"user,omitzero" doc:"name of its user, if its request or one of its values has one"`
	UserFrom   string          `json:"userFrom,omitempty" doc:"where the name is from: \"request\" (the authenticated user), or \"value NAME\" (a text that the session has by this name)" text:"+ (by its %)"`
	Store      target.Addr     `json:"store,omitempty" doc:"the IDistributedCache in which it rests" text:"-"`
	Bytes      int64           `json:"bytes" doc:"bytes of its data in this process: at rest, and of each request that has loaded it" text:"% byte|% bytes"`
	Retained   *int64          `json:"retained,omitempty" doc:"with -retained: bytes that would be free without its cache entry, and without each DistributedSession of a request, added up" text:"retains % byte|retains % bytes"`
	Rests      *RestingSession `json:"rests,omitempty" doc:"its cache entry, if it rests in this process" text:"at rest;line"`
	Live       []LiveSession   `json:"live,omitempty" doc:"copies of it that requests have made"`
	Values     []SessionValue  `json:"values,omitempty" doc:"its values: those of a request in progress that has loaded it, else those that rest" text:"values;row;line"`
	MoreValues int             `json:"moreValues,omitempty" doc:"values that are not listed" text:"% other value|% other values"`
}

// A RestingSession is a stored session.
type RestingSession struct {
	Entry    target.Addr      `json:"entry" doc:"the CacheEntry" text:"="`
	Address  target.Addr      `json:"address" doc:"the array with its data" text:"-"`
	Bytes    int64            `json:"bytes" doc:"length of that array" text:"% byte|% bytes"`
	Accessed Maybe[time.Time] `json:"accessed,omitzero" doc:"when it was last read or written" text:"last access"`
	Sliding  string           `json:"sliding,omitempty" doc:"how long after the last access it expires" text:"expires % after the last access"`
	Expires  *time.Time       `json:"expires,omitempty" doc:"when it expires in any case"`
	Retained *int64           `json:"retained,omitempty" doc:"with -retained: bytes that would be free without the entry" text:"retains % byte|retains % bytes"`
}

// A LiveSession is the session of a request.
type LiveSession struct {
	Address  target.Addr  `json:"address" doc:"the DistributedSession"`
	State    Text         `json:"state" doc:"\"not loaded\", \"loaded\", \"modified, not yet stored\" or \"could not be loaded\"" text:"="`
	New      Maybe[bool]  `json:"new" doc:"the client came without a session" text:"new"`
	Bytes    Maybe[int64] `json:"bytes,omitzero" doc:"bytes of its values and their names, if it is loaded" text:"-"`
	Request  target.Addr  `json:"request,omitempty" doc:"the HttpContext of its request, or the server's object; none if no request has it: it may be garbage of one that has ended" text:"request %|of no request"`
	Method   Text         `json:"method,omitzero" doc:"method of that request" text:"+ %"`
	Path     Text         `json:"path,omitzero" doc:"path of that request" text:"+ %"`
	Retained *int64       `json:"retained,omitempty" doc:"with -retained: bytes that would be free without the DistributedSession" text:"retains % byte|retains % bytes"`
}

// A SessionValue is a value of a session.
type SessionValue struct {
	Name   string `json:"name" doc:"its name"`
	Bytes  int64  `json:"bytes" doc:"bytes of the value" text:"+ (%)"`
	Text   string `json:"text,omitempty" doc:"with -values: the value: UTF-8 as it is, four other bytes as a number (as SetInt32 stores them), others in hexadecimal digits, 32 bytes at most" text:"+ = %;cut 128"`
	Masked bool   `json:"masked,omitempty" doc:"the value is a secret, and stands here masked" text:"-"`
}
