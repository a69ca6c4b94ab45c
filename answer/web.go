package answer

import (
	"cmp"
	"strings"
	"time"

	"github.com/sosgo/sosgo/target"
)

// Requests lists the requests that the web servers of a process are handling.
type Requests struct {
	Gaps
	Requests []Request `json:"requests" doc:"the requests, by the addresses of their contexts" text:"requests;count"`
	Others   int       `json:"others,omitempty" doc:"requests that the options leave out" text:"% other request does not match|% other requests do not match"`
	// Now is when the dump was taken, if known.
	Now   *time.Time `json:"now,omitempty" doc:"when the dump was made, the reference of the requests' ages; absent if unknown" text:"ages as of %"`
	Clock string     `json:"clock,omitempty" doc:"how that is known: \"the dump\", or \"the server's last heartbeat\", the Date header that Kestrel makes every second" text:"+ (%)"`
}

// A Request is a request that a web server is handling.
type Request struct {
	Context target.Addr `json:"context,omitempty" doc:"the HttpContext; none while the request is still being read" text:"context;line"`
	Object  target.Addr `json:"object,omitempty" doc:"the server's object of the request or connection" text:"-"`
	Server  string      `json:"server" doc:"\"Kestrel\", \"IIS\", \"HTTP.sys\", \"features\" (TestServer, or contexts that a program made itself) or \"unknown\"" text:"state;line"`
	// Protocol is the version of HTTP.
	Protocol Text `json:"protocol,omitzero" doc:"version of HTTP, as the server calls it" text:"+ %"`
	Method   Text `json:"method,omitzero" doc:"GET, POST …" text:"-"`
	Scheme   Text `json:"scheme,omitzero" doc:"http or https" text:"-"`
	Host     Text `json:"host,omitzero" doc:"the header Host" text:"-"`
	PathBase Text `json:"pathBase,omitzero" doc:"the part of the path that the application is mounted at" text:"-"`
	Path     Text `json:"path,omitzero" doc:"the path" text:"-"`
	Query    Text `json:"query,omitzero" doc:"the query, with its question mark" text:"-"`
	// State is the server's current step.
	State     string       `json:"state" doc:"what the server is about, in words; empty if it does not say" text:"+, %"`
	Status    Maybe[int64] `json:"status,omitzero" doc:"status code of the response so far" text:"+, status %;plain"`
	Begun     bool         `json:"responseBegun,omitempty" doc:"the status and the headers of the response are settled" text:"-"`
	Upgraded  bool         `json:"upgraded,omitempty" doc:"the connection has become a WebSocket or another protocol" text:"+, upgraded to WebSocket or another protocol"`
	Aborted   bool         `json:"aborted,omitempty" doc:"the client has gone" text:"+, client disconnected"`
	Started   *time.Time   `json:"started,omitempty" doc:"when it came in: the start of its activity; none if the host did not take the time" text:"since;line"`
	Age       string       `json:"age,omitempty" doc:"how long ago that was, if it is known when the dump was made" text:"+ (%);elapsed"`
	Endpoint  Text         `json:"endpoint,omitzero" doc:"name of the endpoint that answers it" text:"route;line"`
	Route     Text         `json:"route,omitzero" doc:"pattern of its route" text:"+ (%)"`
	User      Text         `json:"user,omitzero" doc:"name of the authenticated user" text:"user;line"`
	Session   target.Addr  `json:"session,omitempty" doc:"its session, a DistributedSession; see sessions" text:"+, session %"`
	ID        Text         `json:"id,omitzero" doc:"HttpContext.TraceIdentifier, if anybody has asked for it" text:"id;line"`
	Trace     *Activity    `json:"trace,omitempty" doc:"the activity of the request" text:"trace;line"`
	Remote    string       `json:"remote,omitempty" doc:"address of the client" text:"from;line"`
	Local     string       `json:"local,omitempty" doc:"address of the server" text:"+ to %"`
	Conn      Text         `json:"connection,omitzero" doc:"id of the connection" text:"+, connection %"`
	Exception target.Addr  `json:"exception,omitempty" doc:"what the application threw" text:"-"`
	// Causes lists Exception and the exceptions that it wraps.
	Causes  []TaskException `json:"causes,omitempty" doc:"that exception and those that it wraps, the innermost last" text:"threw"`
	Headers []Header        `json:"headers,omitzero" doc:"with -headers: the headers of the request; those that are secrets are masked" text:"headers"`
	// Threads and Stack handle the request.
	Threads []Worker   `json:"threads,omitempty" doc:"threads that work on it, by their ExecutionContext"`
	Stack   *AsyncWork `json:"stack,omitempty" doc:"the async code that works on it and is suspended"`
	Scopes  []string   `json:"scopes,omitzero" doc:"with -scopes: what is noted with each line of the log, the outermost first" text:"scope"`
}

// Title returns the method and the URL.
func (r *Request) Title() string {
	url := r.PathBase.String() + r.Path.String() + r.Query.String()
	if host := r.Host.String(); host != "" {
		url = r.Scheme.String() + "://" + host + url
	}
	return cmp.Or(r.Method.String(), "?") + " " + cmp.Or(url, "?")
}

// Omits reports whether text omits a field: the status, until the response has begun.
func (r *Request) Omits(field string) bool { return field == "status" && !r.Begun }

// A Header is a header of a request.
type Header struct {
	Name   string `json:"name" doc:"its name"`
	Value  Text   `json:"value" doc:"its value, several with commas between" text:"+: %"`
	Masked bool   `json:"masked,omitempty" doc:"the value is a secret, and stands here masked"`
}

// An Activity is one span of a distributed trace.
type Activity struct {
	Address   target.Addr `json:"address" doc:"the Activity"`
	Operation Text        `json:"operation" doc:"its name" text:"="`
	Trace     Text        `json:"traceId,omitzero" doc:"id of the trace" text:"+, trace %"`
	Span      Text        `json:"spanId,omitzero" doc:"id of the span, if anybody has asked for it" text:"+, span %"`
	Parent    Text        `json:"parentSpanId,omitzero" doc:"id of the span that it belongs to" text:"+, parent %"`
	ID        Text        `json:"id,omitzero" doc:"the id as a whole, if anybody has asked for it" text:"-"`
	Started   *time.Time  `json:"started,omitempty" doc:"when it began" text:"+, since %"`
	Took      string      `json:"took,omitempty" doc:"how long it took; absent while it goes on" text:"+, took %;elapsed"`
}

// Messages lists the requests that a process sent with HttpClient.
type Messages struct {
	Gaps
	Requests []Message      `json:"requests,omitzero" doc:"the requests, those with a response first"`
	Counts   []MessageCount `json:"counts,omitzero" doc:"with -stats: how many there are of each kind"`
	Total    int            `json:"total" doc:"number of requests"`
}

// A Message is an HttpRequestMessage.
type Message struct {
	Address     target.Addr `json:"address" doc:"the HttpRequestMessage"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Method      Text        `json:"method" doc:"GET, POST …"`
	Status      *int64      `json:"status,omitempty" doc:"status code of the response; none if there is no response"`
	URI         Text        `json:"uri" doc:"the URI"`
}

// A MessageCount counts similar requests.
type MessageCount struct {
	Count  int    `json:"count" doc:"how many"`
	Method string `json:"method" doc:"GET, POST …"`
	Status *int64 `json:"status,omitempty" doc:"status code of the response"`
	Host   string `json:"host" doc:"host of the URI"`
}

// HTTPClients lists the connections that HttpClient keeps.
type HTTPClients struct {
	Gaps
	Clients  int `json:"clients" doc:"HttpClient objects of the heap" text:"% HttpClient"`
	Handlers int `json:"handlers" doc:"SocketsHttpHandler objects of the heap, each with pools of its own" text:"% SocketsHttpHandler"`
	// FactoryHandlers is the number of handlers of an IHttpClientFactory. Each leads to a SocketsHttpHandler, and stays for a while after its lifetime.
	FactoryHandlers int          `json:"factoryHandlers,omitempty" doc:"handlers of an IHttpClientFactory; each leads to one of the SocketsHttpHandlers" text:"% of an IHttpClientFactory"`
	List            []HTTPClient `json:"list,omitempty" doc:"the HttpClients, by their addresses" text:"HttpClients;first 20"`
	More            int          `json:"more,omitempty" doc:"HttpClients that are not listed" text:"+, % HttpClients not listed"`
	Pools           []HTTPPool   `json:"pools" doc:"the pools, by their addresses" text:"connection pools"`
	Verdicts        []Verdict    `json:"verdicts,omitempty" doc:"what is wrong with the use of clients"`
	// Clock is the reference time for the ages of requests.
	Clock Maybe[int64] `json:"clock,omitzero" doc:"the newest time that the process recorded, in milliseconds since the machine's start: the reference of the ages" text:"-"`
	// Fresh reports that a web server of the process recorded Clock, which it does every second.
	Fresh bool `json:"-"`
}

// A HTTPClient is an HttpClient.
type HTTPClient struct {
	Address  target.Addr  `json:"address" doc:"the HttpClient"`
	Handler  Pointer      `json:"handler,omitzero" doc:"the SocketsHttpHandler that it sends by; absent if that is of another class"`
	Own      Text         `json:"ownHandler,omitzero" doc:"class of a handler that is not of the class library, and leads to no pool that could be read" text:"handler"`
	Factory  bool         `json:"factory,omitempty" doc:"its handler belongs to IHttpClientFactory, which shares and disposes it" text:"+ of IHttpClientFactory"`
	Disposed Maybe[bool]  `json:"disposed,omitzero" doc:"it is disposed"`
	Used     Maybe[bool]  `json:"used,omitzero" doc:"it has sent a request" text:"|unused"`
	Timeout  Maybe[int64] `json:"timeoutMs,omitzero" doc:"how long a request may take, -1 for any time" text:"timeout;limit"`
	Base     Text         `json:"baseAddress,omitzero" doc:"its BaseAddress"`
	Name     string       `json:"name,omitempty" doc:"the field that holds it, if one was found: behind its class for a static field, behind the type or the static field of its object for another" text:"held by %"`
}

// A HTTPPool lists the connections to one server.
type HTTPPool struct {
	Address  target.Addr  `json:"address" doc:"the HttpConnectionPool"`
	Kind     Text         `json:"kind,omitzero" doc:"Http, Https, Proxy …" text:"="`
	Host     Text         `json:"host" doc:"the server" text:"="`
	Port     Maybe[int64] `json:"port,omitzero" doc:"its port" text:"+:%;plain;nonzero"`
	Proxy    Text         `json:"proxy,omitzero" doc:"host and port of the proxy on the way to the server" text:"by way of the proxy"`
	Disposed bool         `json:"disposed,omitempty" doc:"it is not used any more"`
	Max      Maybe[int64] `json:"max,omitzero" doc:"connections of HTTP/1.1 that there may be" text:"at most;limit"`
	Count    Maybe[int64] `json:"connections,omitzero" doc:"connections of HTTP/1.1 that there are"`
	Idle     Maybe[int64] `json:"idle,omitzero" doc:"of these, those that are free"`
	Opening  Maybe[int64] `json:"opening,omitzero" doc:"connections of HTTP/1.1 that are being opened"`
	Waiting  []HTTPWait   `json:"waiting" doc:"requests that wait for a connection" text:"waits for a connection"`
	Running  []HTTPWait   `json:"running" doc:"requests that are on their way" text:"in flight"`
	HTTP2    Maybe[int64] `json:"http2,omitzero" doc:"connections of HTTP/2" text:"HTTP/2;nonzero"`
	HTTP3    Maybe[int64] `json:"http3,omitzero" doc:"connections of HTTP/3" text:"HTTP/3;nonzero"`
}

// A HTTPWait is a request in a pool.
type HTTPWait struct {
	Request    target.Addr `json:"request" doc:"the HttpRequestMessage" text:"="`
	Connection target.Addr `json:"connection,omitempty" doc:"the connection that it is on"`
	Method     Text        `json:"method,omitzero" doc:"GET, POST …" text:"="`
	URI        Text        `json:"uri,omitzero" doc:"the URI" text:"="`
	// Age and Timeout come from the timer of HttpClient's timeout, and Age else from the time at which its connection was opened, if that was never idle and has
	// received nothing, or from the request for a tunnel through a proxy that it waits for.
	Age     Maybe[int64] `json:"ageMs,omitzero" doc:"for how long HttpClient has worked on it, at least; where it has neither a timeout nor a new connection that has received nothing, it is not known" text:"for at least %"`
	Timeout Maybe[int64] `json:"timeoutMs,omitzero" doc:"how long it may take in all" text:"of % at most"`
	Stack   *AsyncWork   `json:"stack,omitempty" doc:"the suspended async code that awaits it"`
}

// SQLPools lists the connection pools of databases.
type SQLPools struct {
	Gaps
	Pools []SQLPool `json:"pools" doc:"the pools, by their addresses" text:"pools|connection pools of SqlClient, Npgsql or SQLite"`
	// Failures come from the exceptions on the heap, including garbage and those of calls that have ended.
	Failures     []SQLFailure `json:"failures,omitempty" doc:"commands that failed, by the exceptions of SqlClient and Npgsql on the heap, also of calls that are over; those with the same type, code, method and command are one" text:"Failed commands, by the exceptions on the heap, also of calls that are over;heading"`
	MoreFailures int          `json:"moreFailures,omitempty" doc:"exceptions that are not listed" text:"% exceptions are not listed"`
}

// A SQLFailure is a failed command, or several similar ones.
type SQLFailure struct {
	Object     target.Addr `json:"object" doc:"the exception" text:"="`
	Type       Text        `json:"type" doc:"its type"`
	Message    Text        `json:"message" doc:"its message, empty for none" text:"+: %"`
	Count      int         `json:"count" doc:"how many such exceptions there are; the object and the message are those of the first" text:"|% like it"`
	Code       string      `json:"code,omitempty" doc:"the server's error number (SqlClient) or SQLSTATE (Npgsql)"`
	Method     Text        `json:"method,omitzero" doc:"the innermost method of the program in the exception's stack trace" text:"thrown in"`
	Pool       target.Addr `json:"pool,omitempty" doc:"the pool of the connection"`
	Connection target.Addr `json:"connection,omitempty" doc:"the connection whose id the exception has"`
	Command    *SQLCommand `json:"command,omitempty" doc:"the command that failed, if it is known" text:"command;line"`
	Strength   Strength    `json:"strength,omitempty" doc:"of the command: recorded if the exception refers to it, likely if it is the only one of the exception's connection" text:"+ [%]"`
}

// A SQLPool lists the connections of one connection string.
type SQLPool struct {
	Address     target.Addr     `json:"address" doc:"the pool; 0x0 for connections of SQLite that are in none" text:"=|(none)"`
	Type        Text            `json:"type" doc:"its type, which identifies the driver"`
	Connection  Text            `json:"connectionString" doc:"the connection string; what is a secret in it is masked" text:"%;line"`
	State       Text            `json:"state,omitzero" doc:"whether it is running or shutting down" text:"=(%)"`
	Blocked     Maybe[bool]     `json:"blocked,omitzero" doc:"the last attempt to open a connection failed, and all fail for a while" text:"blocked after a failed connect: new attempts fail for a while"`
	Min         Maybe[int64]    `json:"min,omitzero" doc:"connections that are kept" text:"min;nonzero"`
	Max         Maybe[int64]    `json:"max,omitzero" doc:"connections that there may be" text:"max;limit"`
	Open        Maybe[int64]    `json:"open,omitzero" doc:"connections that there are"`
	Idle        Maybe[int64]    `json:"idle,omitzero" doc:"of these, those that are free"`
	Busy        Maybe[int64]    `json:"busy,omitzero" doc:"of these, those that somebody has"`
	Waiting     Maybe[int64]    `json:"waiting,omitzero" doc:"calls that wait for a connection"`
	Exhausted   Maybe[bool]     `json:"exhausted,omitzero" doc:"all connections that there may be are busy: further calls wait" text:"exhausted: all connections are busy, further requests wait;line"`
	Connections []SQLConnection `json:"connections" doc:"the connections that somebody has" text:"connections"`
	Opening     []SQLOpening    `json:"opening,omitempty" doc:"the connections that the program is opening: the calls that wait for one of the pool's connections and, if these are fewer, calls for which the driver opens one" text:"opening"`
}

// The values of SQLOpening.Does.
const (
	SQLWaits        = "waits for a connection"
	SQLOpens        = "opens a connection"
	SQLWaitsOrOpens = "waits for a connection, or opens one"
)

// A SQLOpening is a connection that the program is opening.
type SQLOpening struct {
	Owner    target.Addr      `json:"owner" doc:"the SqlConnection or NpgsqlConnection" text:"="`
	Does     string           `json:"does" doc:"\"waits for a connection\", \"opens a connection\" or, where the driver does not distinguish them, \"waits for a connection, or opens one\"" text:"%"`
	Since    Maybe[time.Time] `json:"since,omitzero" doc:"of an OpenAsync of SqlClient: since when it waits, the deadline less the pool's timeout; none where the driver does not keep it" text:"since"`
	Deadline Maybe[time.Time] `json:"deadline,omitzero" doc:"of an OpenAsync of SqlClient: until when it waits" text:"until"`
	// Age and Limit come from the timer of the driver's wait for the server.
	Age   Maybe[int64] `json:"ageMs,omitzero" doc:"of an OpenAsync of Npgsql: for how long the driver waits for the server's answer, at least; none without a timeout, and before the server has accepted the connection" text:"for at least %"`
	Limit Maybe[int64] `json:"limitMs,omitzero" doc:"how long it may wait for that in all" text:"of % at most"`
	// Threads and Stack wait for the connection.
	Threads []Worker   `json:"threads,omitempty" doc:"threads with a variable that refers to it"`
	Stack   *AsyncWork `json:"stack,omitempty" doc:"the suspended async code that awaits it, or has such a variable"`
}

// A SQLConnection is a connection in use.
type SQLConnection struct {
	Address     target.Addr        `json:"address" doc:"the driver's object"`
	Owner       Pointer            `json:"owner,omitzero" doc:"the SqlConnection or NpgsqlConnection that has it; none if that is gone"`
	Leaked      bool               `json:"leaked,omitempty" doc:"its owner is gone without closing it" text:"leaked: its owner is gone without closing it"`
	State       Text               `json:"state,omitzero" doc:"what the driver says that it does" text:"="`
	Opened      *time.Time         `json:"opened,omitempty" doc:"when it was opened"`
	Database    Text               `json:"database,omitzero" doc:"the database that it is in"`
	ProcessID   Maybe[int64]       `json:"processId,omitzero" doc:"of PostgreSQL: id of the server's process" text:"process;plain;nonzero"`
	Transaction Maybe[bool]        `json:"transaction,omitzero" doc:"it is in a transaction, as far as the driver says" text:"in a transaction"`
	Context     target.Addr        `json:"context,omitempty" doc:"the DbContext of Entity Framework that uses it" text:"context"`
	ContextType Text               `json:"contextType,omitzero" doc:"its type" text:"+ %"`
	Command     Maybe[*SQLCommand] `json:"command,omitzero" doc:"what runs on it or, if nothing does, the last command of SqlClient that was made for it and is still on the heap; null for none" text:"command|no running command;line"`
	// Threads and Stack use the connection.
	Threads []Worker   `json:"threads,omitempty" doc:"threads with a variable that refers to it, to its owner or to its command"`
	Stack   *AsyncWork `json:"stack,omitempty" doc:"the suspended async code with such a variable"`
}

// A SQLCommand is a command of a connection.
type SQLCommand struct {
	Address   target.Addr   `json:"address" doc:"the command" text:"-"`
	Running   bool          `json:"running" doc:"it runs, or its results are being read" text:"|not running"`
	Text      Text          `json:"text" doc:"its text, or the name of the procedure" text:"="`
	Procedure Maybe[bool]   `json:"procedure,omitzero" doc:"the text is the name of a stored procedure" text:"procedure"`
	Timeout   Maybe[*int64] `json:"timeout,omitzero" doc:"seconds that it may take, 0 for any time; null if it was not set" text:"timeout % s|timeout % s|no timeout"`
	// Deadline and Since are set for a running command.
	Deadline Maybe[time.Time] `json:"deadline,omitzero" doc:"of SqlClient: when the client gives up waiting for the server; none without a timeout, and of other drivers" text:"until"`
	Since    Maybe[time.Time] `json:"since,omitzero" doc:"since when the client waits for the server to answer the command, or to send more of its results: the deadline less the timeout; none where the driver does not keep it"`
	// Age and Limit come from the timer of the driver's wait for the server.
	Age        Maybe[int64]   `json:"ageMs,omitzero" doc:"of an asynchronous command of Npgsql: for how long the driver waits for the server to answer, or to send more, at least; none without a timeout" text:"for at least %"`
	Limit      Maybe[int64]   `json:"limitMs,omitzero" doc:"how long it may wait for that in all" text:"of % at most"`
	Parameters []SQLParameter `json:"parameters,omitzero" doc:"its parameters; none if they could not be read" text:"parameters"`
}

// A SQLParameter is a parameter of a command.
type SQLParameter struct {
	Name  Text   `json:"name" doc:"its name"`
	Value string `json:"value" doc:"its value as text" text:"+ = %"`
}

// SignalR lists the hubs of ASP.NET Core SignalR and the circuits of Blazor.
type SignalR struct {
	Gaps
	Hubs     []SignalRHub    `json:"hubs" doc:"the hubs, by the addresses of their lifetime managers" text:"hubs|SignalR hubs"`
	Circuits []BlazorCircuit `json:"circuits" doc:"the circuits of Blazor on the server"`
}

// A SignalRHub is a hub with its clients.
type SignalRHub struct {
	Address     target.Addr         `json:"address" doc:"the HubLifetimeManager"`
	Hub         Text                `json:"hub" doc:"type of the hub" text:"="`
	Connections []SignalRConnection `json:"connections" doc:"the clients that are connected to this process" text:"connections"`
	More        int                 `json:"more,omitempty" doc:"connections that are not listed" text:"% connections are not listed"`
	Groups      []SignalRGroup      `json:"groups" doc:"the groups with a client in this process" text:"groups"`
}

// A SignalRConnection is a client of a hub.
type SignalRConnection struct {
	Address  target.Addr  `json:"address" doc:"the HubConnectionContext"`
	ID       Text         `json:"id" doc:"id of the connection" text:"="`
	User     Text         `json:"user,omitzero" doc:"the user identifier, if the program has users"`
	Protocol Text         `json:"protocol,omitzero" doc:"type of the hub protocol" text:"%"`
	Aborted  Maybe[bool]  `json:"aborted,omitzero" doc:"the server has ended it"`
	Waiting  Maybe[int64] `json:"waiting,omitzero" doc:"messages that wait because another one is being written to the client" text:"% message waits to be written|% messages wait to be written;nonzero"`
}

// A SignalRGroup is a group of clients of a hub.
type SignalRGroup struct {
	Name        Text         `json:"name" doc:"name of the group"`
	Connections Maybe[int64] `json:"connections" doc:"its clients in this process" text:"% connection|% connections"`
}

// A BlazorCircuit is the server's state of a Blazor page.
type BlazorCircuit struct {
	Address    target.Addr `json:"address" doc:"the CircuitHost; retained gives the memory freed with it"`
	ID         Text        `json:"id" doc:"id of the circuit" text:"="`
	Connection Text        `json:"connection,omitzero" doc:"id of its SignalR connection"`
	Connected  Maybe[bool] `json:"connected,omitzero" doc:"its browser is connected; else the circuit waits for it to come back" text:"|disconnected"`
	Disposed   Maybe[bool] `json:"disposed,omitzero" doc:"it is disposed"`
}

// Redis lists the multiplexers of StackExchange.Redis.
type Redis struct {
	Gaps
	Multiplexers []RedisMultiplexer `json:"multiplexers" doc:"the multiplexers, by their addresses" text:"multiplexers of StackExchange.Redis"`
	Verdicts     []Verdict          `json:"verdicts,omitempty" doc:"commands that can't be sent"`
}

// A RedisMultiplexer is a ConnectionMultiplexer.
type RedisMultiplexer struct {
	Address       target.Addr       `json:"address" doc:"the ConnectionMultiplexer" text:"=% ConnectionMultiplexer"`
	Disposed      Maybe[bool]       `json:"disposed,omitzero" doc:"it is disposed"`
	SyncTimeouts  Maybe[int64]      `json:"syncTimeouts,omitzero" doc:"synchronous commands that timed out so far" text:"synchronous timeouts so far"`
	AsyncTimeouts Maybe[int64]      `json:"asyncTimeouts,omitzero" doc:"asynchronous commands that timed out so far" text:"asynchronous timeouts so far"`
	Connections   []RedisConnection `json:"connections" doc:"its connections: for each server one for commands and, if it subscribes, one for subscriptions"`
}

// A RedisConnection is a connection of a multiplexer.
type RedisConnection struct {
	Address target.Addr `json:"address" doc:"the PhysicalBridge"`
	Name    Text        `json:"name" doc:"the server with its port, and what the connection is for"`
	State   Text        `json:"state" doc:"Connecting, ConnectedEstablishing, ConnectedEstablished or Disconnected" text:"="`
	Backlog RedisQueue  `json:"backlog" doc:"commands that wait to be sent" text:"to be sent"`
	Sent    RedisQueue  `json:"sent" doc:"commands that are sent and wait for the server's answer" text:"sent and unanswered"`
}

// A RedisQueue counts waiting commands.
type RedisQueue struct {
	Count   Maybe[int64] `json:"count" doc:"how many there are" text:"="`
	First   target.Addr  `json:"first,omitempty" doc:"the Message that waits longest" text:"first"`
	Command Text         `json:"command,omitzero" doc:"its command" text:"+ %"`
	Since   *time.Time   `json:"since,omitempty" doc:"when it was made; absent where the library does not keep it"`
}

// ObjectPools lists the pools of Microsoft.Extensions.ObjectPool.
type ObjectPools struct {
	Gaps
	Pools []ObjectPool `json:"pools" doc:"the pools, by their addresses" text:"pools of Microsoft.Extensions.ObjectPool;table"`
}

// An ObjectPool keeps objects for reuse.
type ObjectPool struct {
	Address  target.Addr  `json:"address" doc:"the DefaultObjectPool"`
	Of       Text         `json:"of" doc:"type of the objects" text:"objects"`
	Retained Maybe[int64] `json:"retained" doc:"objects that it keeps" text:"kept"`
	Max      Maybe[int64] `json:"max,omitzero" doc:"how many it keeps at most" text:"most"`
	Name     string       `json:"name,omitempty" doc:"the field that holds it, if one was found" text:"held by"`
}

// Queues lists the queues of Serilog and MassTransit.
type Queues struct {
	Gaps
	Queues []Queue `json:"queues" doc:"the queues, by the addresses of their owners" text:"queues of Serilog or MassTransit"`
}

// A Queue is a queue of log events or messages, or an endpoint that dispatches messages.
type Queue struct {
	Address  target.Addr  `json:"address" doc:"the sink, queue or dispatcher"`
	Type     Text         `json:"type" doc:"its type"`
	Name     Text         `json:"name,omitzero" doc:"of a sink of Serilog: the type of the sink that it writes to; of MassTransit: the name of the queue or endpoint" text:"=(%)"`
	Items    Maybe[int64] `json:"items,omitzero" doc:"what is queued, with the current batch of a sink that batches" text:"queued"`
	Capacity Maybe[int64] `json:"capacity,omitzero" doc:"how much may be queued; none if that has no bound" text:"of at most"`
	Dropped  Maybe[int64] `json:"dropped,omitzero" doc:"log events that were dropped so far because the queue was full" text:"dropped so far"`
	Blocks   Maybe[bool]  `json:"blocks,omitzero" doc:"who logs waits while the queue is full; else the log event is dropped" text:"who logs waits while it is full"`
	Active   Maybe[int64] `json:"active,omitzero" doc:"of an endpoint: messages that are being consumed" text:"being consumed"`
	Most     Maybe[int64] `json:"most,omitzero" doc:"of an endpoint: the most that were at one time so far" text:"at most so far"`
	Begun    Maybe[int64] `json:"begun,omitzero" doc:"of an endpoint: messages handed out so far" text:"handed out so far"`
}

// GRPCCalls lists the gRPC calls of a process.
type GRPCCalls struct {
	Gaps
	Calls []GRPCCall `json:"calls" doc:"the calls, by the addresses of their objects; those that are done are there until the GC takes them" text:"gRPC calls"`
}

// A GRPCCall is a gRPC call that the process makes or handles.
type GRPCCall struct {
	Address    target.Addr  `json:"address" doc:"the GrpcCall of a client, or the HttpContextServerCallContext of a server"`
	Server     bool         `json:"server,omitempty" doc:"the process answers it; else it sends it" text:"+ answers| sends"`
	Method     Text         `json:"method,omitzero" doc:"the method that is called, as \"/service/method\"" text:"+ %"`
	Kind       Text         `json:"kind,omitzero" doc:"of a client: Unary, ClientStreaming, ServerStreaming or DuplexStreaming" text:"%"`
	URI        Text         `json:"uri,omitzero" doc:"of a client: the address that is called" text:"at %"`
	Peer       Text         `json:"peer,omitzero" doc:"of a server: who calls, if the program asked" text:"for %"`
	Remote     string       `json:"remote,omitempty" doc:"of a server: the address of the other end" text:"from %"`
	Context    target.Addr  `json:"context,omitempty" doc:"of a server: the HttpContext of the request" text:"-"`
	Deadline   *time.Time   `json:"deadline,omitempty" doc:"until when it must be done, in UTC"`
	Attempt    Maybe[int64] `json:"attempt,omitzero" doc:"of a client: which attempt it is" text:"|attempt %"`
	Sent       Maybe[int64] `json:"sent,omitzero" doc:"of a client: messages written" text:"% message sent|% messages sent"`
	Received   Maybe[int64] `json:"received,omitzero" doc:"of a client: messages read" text:"% received"`
	HTTPStatus Maybe[int64] `json:"httpStatus,omitzero" doc:"of a client: the status of the HTTP response, once there is one" text:"HTTP status;plain"`
	Done       Maybe[bool]  `json:"done" doc:"it has come to its end" text:"done|"`
	Status     Text         `json:"status,omitzero" doc:"of a client's call that is done: the StatusCode of gRPC" text:"+ %"`
	Detail     Text         `json:"detail,omitzero" doc:"the words that came with the status" text:"%"`
	Stack      *AsyncWork   `json:"stack,omitempty" doc:"the async code that has it in hand"`
}

// WebSockets lists the WebSockets of a process.
type WebSockets struct {
	Gaps
	Sockets []WebSocket `json:"sockets" doc:"the WebSockets, by their addresses" text:"WebSockets"`
}

// A WebSocket is the process's end of a WebSocket.
type WebSocket struct {
	Address       target.Addr `json:"address" doc:"the ManagedWebSocket"`
	Server        Maybe[bool] `json:"server,omitzero" doc:"a client opened it; else the process itself did" text:"+ server side| client side"`
	State         Text        `json:"state" doc:"its WebSocketState" text:"+, %"`
	Protocol      Text        `json:"protocol,omitzero" doc:"the protocol that both ends agreed on, if any"`
	SentClose     Maybe[bool] `json:"sentClose,omitzero" doc:"the process has said that it sends nothing more" text:"close frame sent"`
	ReceivedClose Maybe[bool] `json:"receivedClose,omitzero" doc:"the other end has" text:"close frame received"`
	CloseStatus   Text        `json:"closeStatus,omitzero" doc:"why the other end closed it, a WebSocketCloseStatus" text:"closed by the peer: %"`
	CloseText     Text        `json:"closeText,omitzero" doc:"the other end's words about that" text:"+ %"`
	Disposed      Maybe[bool] `json:"disposed,omitzero" doc:"it is disposed"`
	Stack         *AsyncWork  `json:"stack,omitempty" doc:"the async code that has it in hand"`
}

// A Worker is a thread that works on a request or uses a connection.
type Worker struct {
	Thread
	Does   string `json:"does,omitempty" doc:"what it does or waits for, as its stack says"`
	Method Text   `json:"method,omitzero" doc:"the topmost method of the program: none of the class libraries, servers and drivers"`
}

// An AsyncWork is suspended async code that holds an object. Only its innermost method waits for something external.
type AsyncWork struct {
	Reason Text         `json:"reason,omitzero" doc:"what all of it waits for, in words"`
	Why    Statement    `json:"why,omitzero" doc:"reason with its arguments" text:"-"`
	Remote WaitKind     `json:"remote,omitempty" doc:"of code that waits for another process: connection (for one to be free or opened), server (for its answer), stream (for data of a named pipe), process (for the end of a child or its output)"`
	Frames []AsyncFrame `json:"frames" doc:"the frames, the innermost first, up to the outermost that has it; as those of dumpasync"`
}

// LibraryMethod reports whether a method, named with its namespace and type, belongs to the class libraries, servers
// or drivers that programs use. Lists of a program's own methods omit it.
func LibraryMethod(name string) bool {
	for _, s := range libraries {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

// libraries lists the name prefixes of library methods.
var libraries = [...]string{
	"System.", "Microsoft.AspNetCore.", "Microsoft.Extensions.", "Microsoft.Win32.", "Microsoft.CSharp.", "Microsoft.JSInterop.", "Microsoft.Net.Http.", // of the framework
	"Interop+", "Interop.", "ILStubClass.", "DynamicClass.InvokeStub_", // its native methods, and the runtime's stubs
	"Microsoft.Data.", "Microsoft.EntityFrameworkCore.", "Npgsql.", "MySqlConnector.", "MongoDB.Driver.", "StackExchange.Redis.", // databases
	"Grpc.Net.", "Grpc.Core.", "Grpc.AspNetCore.", "RabbitMQ.Client.", "Confluent.Kafka.", "MassTransit.", "Hangfire.", "Quartz.", // messages and jobs
	"OpenTelemetry.", "Microsoft.ApplicationInsights.", "Sentry.", "Datadog.Trace.", "Elastic.Apm.", "NewRelic.", "Serilog.", "NLog.", "log4net.", // telemetry and logs
}
