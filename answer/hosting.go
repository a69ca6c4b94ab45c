package answer

import (
	"time"

	"github.com/sosgo/sosgo/target"
)

// ServiceScopes lists the scopes of dependency injection.
type ServiceScopes struct {
	Gaps
	Scopes   []ServiceScope `json:"scopes" doc:"the scopes that are not disposed, those that will dispose most first" text:"scopes|service scopes;count"`
	Disposed int            `json:"disposed" doc:"how many scopes were disposed and are still on the heap" text:"% disposed scope|% disposed scopes;nonzero"`
}

// A ServiceScope is a scope. It keeps its disposable services alive until it is disposed.
type ServiceScope struct {
	Address     target.Addr      `json:"address" doc:"the ServiceProviderEngineScope"`
	Root        Maybe[bool]      `json:"root,omitzero" doc:"it is the scope of the provider itself, and lives as long as that" text:"=(root scope, lives as long as the provider)"`
	Services    Maybe[int64]     `json:"services,omitzero" doc:"objects that it made once and gives to all who ask; the singletons of a root are kept elsewhere" text:"shares % object|shares % objects;nonzero"`
	Disposables Maybe[int64]     `json:"disposables,omitzero" doc:"objects that it will dispose" text:"will dispose % object|will dispose % objects"`
	Types       []DisposableType `json:"types" doc:"these by their types, the most first" text:"types;table"`
}

// A DisposableType counts the objects of one type that a scope will dispose.
type DisposableType struct {
	Type     Text        `json:"type" doc:"the type"`
	Count    int64       `json:"count" doc:"how many there are"`
	Uncached int64       `json:"transient" doc:"how many of them the scope gives to nobody else: transients and, of a root, also singletons" text:"not shared;nonzero"`
	First    target.Addr `json:"first" doc:"one of them" text:"first"`
	// Accumulates is set only for a root scope and several objects. A single object may be a singleton.
	Accumulates bool `json:"accumulates,omitempty" doc:"of a root scope: the scope gives several of them to nobody else; they accumulate, unless as many are registered" text:"accumulating transients, unless as many are registered"`
}

// MemoryCaches lists the caches of Microsoft.Extensions.Caching.Memory.
type MemoryCaches struct {
	Gaps
	Caches []MemoryCache `json:"caches" doc:"the caches, by their addresses" text:"memory caches"`
}

// A MemoryCache is one cache.
type MemoryCache struct {
	Address target.Addr   `json:"address" doc:"the MemoryCache"`
	Count   Maybe[int64]  `json:"count,omitzero" doc:"how many entries it has" text:"+ % entry| % entries"`
	Size    Maybe[int64]  `json:"size,omitzero" doc:"the sizes that the program gave to entries, added by the cache; 0 unless it has a limit" text:"size;nonzero"`
	Limit   Maybe[*int64] `json:"limit,omitzero" doc:"how much that may be; null for any"`
	Entries []CacheEntry  `json:"entries" doc:"its entries: by the size that the program gave them, by that of their values, and the oldest first" text:"entries;table"`
}

// A CacheEntry is an entry of a cache.
type CacheEntry struct {
	Address  target.Addr      `json:"address" doc:"the CacheEntry" text:"entry"`
	Key      string           `json:"key" doc:"the key as text"`
	Value    target.Addr      `json:"value,omitempty" doc:"the value; none for null"`
	Type     Text             `json:"type,omitzero" doc:"its type" text:"=|null"`
	Bytes    Maybe[int64]     `json:"bytes,omitzero" doc:"size of the value alone; objsize and retained show what it keeps alive"`
	Size     Maybe[*int64]    `json:"size,omitzero" doc:"the size that the program gave the entry, in units of its own; null for none" text:"size"`
	Accessed Maybe[time.Time] `json:"accessed,omitzero" doc:"when it was made or asked for last" text:"last access"`
	Expires  *time.Time       `json:"expires,omitempty" doc:"when it expires in any case"`
	Sliding  string           `json:"sliding,omitempty" doc:"the time without being asked for after which it expires" text:"% after the last access"`
	Expired  Maybe[bool]      `json:"expired,omitzero" doc:"it has expired, and waits to be removed"`
}

// DbContexts lists the contexts of Entity Framework Core.
type DbContexts struct {
	Gaps
	Contexts []DbContext `json:"contexts" doc:"the contexts, those that track most first" text:"contexts|contexts of Entity Framework Core;count"`
}

// A DbContext is one context.
type DbContext struct {
	Address  target.Addr       `json:"address" doc:"the DbContext"`
	Type     Text              `json:"type" doc:"its type"`
	Disposed Maybe[bool]       `json:"disposed,omitzero" doc:"it is disposed, or back in its pool"`
	Used     bool              `json:"used,omitempty" doc:"it has a StateManager: something was asked of it" text:"|unused"`
	Tracked  Maybe[int64]      `json:"tracked,omitzero" doc:"entities that it tracks, and keeps alive, without those of types that several parts of the model share (owned types)" text:"tracks"`
	Changed  Maybe[int64]      `json:"changed,omitzero" doc:"how many of them were changed as of its last DetectChanges: later edits are not counted" text:"% changed (edits since its last DetectChanges are not counted)"`
	Entities []TrackedEntities `json:"entities" doc:"these by type and state, the most first"`
}

// Omits reports whether text omits a field: the numbers of an unused context, and changes that EF Core has not
// recorded.
func (c *DbContext) Omits(field string) bool {
	return !c.Used && (field == "tracked" || field == "changed") || field == "changed" && c.Changed.Err() != nil
}

// TrackedEntities counts entities of one type in one state.
type TrackedEntities struct {
	Type  Text        `json:"type" doc:"their type"`
	State string      `json:"state" doc:"\"Unchanged\", \"Added\", \"Modified\" or \"Deleted\"" text:"="`
	Count int64       `json:"count" doc:"how many there are" text:"%"`
	First target.Addr `json:"first" doc:"one of them" text:"first"`
}

// Hosts lists the generic hosts of a process.
type Hosts struct {
	Gaps
	Hosts    []Host    `json:"hosts" doc:"the hosts, by their addresses" text:"hosts|generic hosts"`
	Verdicts []Verdict `json:"verdicts" doc:"hosted services that failed, hosts that did not start, and what starting and stopping hosts wait for"`
}

// The states of a Host.
const (
	HostNotStarted  = "not started"
	HostStarting    = "starting"
	HostStartFailed = "start failed" // its StartAsync has ended, and it has not started
	HostRunning     = "running"
	HostStopping    = "stopping"
	HostStopped     = "stopped"
)

// A Host is a generic host, which runs hosted services.
type Host struct {
	Address         target.Addr     `json:"address" doc:"the Host" text:"=Host %"`
	Application     Text            `json:"application,omitzero" doc:"the name of the application" text:"application;line"`
	Environment     Text            `json:"environment,omitzero" doc:"the name of the environment, such as Production" text:"environment;line"`
	State           Text            `json:"state" doc:"not started, starting, start failed, running, stopping or stopped, by the tokens of IHostApplicationLifetime and by its StartAsync" text:"%"`
	Failure         *TaskException  `json:"failure,omitempty" doc:"the exception that came out of its StartAsync, if a thread handles it" text:"failed by"`
	StartsOn        *Thread         `json:"startsOn,omitempty" doc:"the thread that is in its StartAsync, while that is not suspended" text:"-"`
	StartsIn        string          `json:"startsIn,omitempty" doc:"the outermost method on that thread that does not belong to the host: that of a service, most often" text:"in %"`
	OnException     Text            `json:"onException,omitzero" doc:"what it does when a BackgroundService fails (BackgroundServiceExceptionBehavior): StopHost or Ignore; absent before .NET 6, which ignores it" text:"on exception;line"`
	ShutdownTimeout Text            `json:"shutdownTimeout,omitzero" doc:"how long its services may take to stop" text:"shutdown timeout;line"`
	Services        []HostedService `json:"services" doc:"its hosted services, in the order in which they start; the last one stops first"`
}

// The states of a HostedService.
const (
	ServiceNotStarted = "not started"
	ServiceRunning    = "running"
	ServiceCompleted  = "completed"
	ServiceCanceled   = "canceled"
	ServiceFailed     = "failed"
)

// A HostedService is a service of a Host.
type HostedService struct {
	Address    target.Addr     `json:"address" doc:"the service"`
	Type       Text            `json:"type" doc:"its type"`
	Background bool            `json:"background" doc:"it is a BackgroundService: its state is that of the task that ExecuteAsync returned" text:"-"`
	State      Text            `json:"state,omitzero" doc:"not started, running, completed, canceled or failed; empty for a service that is no BackgroundService, which records none" text:"%"`
	Task       target.Addr     `json:"task,omitempty" doc:"the task that ExecuteAsync returned"`
	Exceptions []TaskException `json:"exceptions,omitempty" doc:"what it failed with" text:"exceptions"`
	Starting   *AsyncWork      `json:"starting,omitempty" doc:"the host waits for its StartAsync: the suspended methods, and what they wait for" text:"starting: the host waits for its StartAsync"`
	Stopping   *AsyncWork      `json:"stopping,omitempty" doc:"the host waits for its StopAsync: the suspended methods, and what they wait for" text:"stopping: the host waits for its StopAsync"`
}
