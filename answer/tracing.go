package answer

import "github.com/sosgo/sosgo/target"

// EventSources lists the event sources of a process and their listeners.
type EventSources struct {
	Gaps
	Sessions  Maybe[int64]        `json:"sessions,omitzero" doc:"sessions of EventPipe that have enabled a provider; dotnet-trace, dotnet-counters and dotnet-monitor open them" text:"% session of EventPipe|% sessions of EventPipe"`
	Sources   []EventSource       `json:"sources" doc:"the EventSource objects: those that are enabled, the others, those that are disposed" text:"sources|event sources"`
	Providers []EventPipeProvider `json:"providers,omitempty" doc:"the providers of EventPipe, those of the runtime itself first" text:"providers"`
}

// An EventSource is an EventSource object.
type EventSource struct {
	Address   target.Addr     `json:"address" doc:"the object"`
	Name      Text            `json:"name" doc:"its name"`
	Type      Text            `json:"type" doc:"its type" text:"=(%)"`
	Enabled   Maybe[bool]     `json:"enabled,omitzero" doc:"somebody listens to it" text:"-"`
	Level     Text            `json:"level,omitzero" doc:"the most detailed level that was asked for; LogAlways for all levels"`
	Keywords  Maybe[Hex]      `json:"keywords,omitzero" doc:"the keywords that were asked for, by all who listen" text:"keywords %|keywords %|all keywords"`
	Disposed  Maybe[bool]     `json:"disposed,omitzero" doc:"it is disposed" text:"-"`
	Trimmed   bool            `json:"trimmed,omitempty" doc:"its type has no fields for listeners: event sources were switched off when the program was published (EventSource.IsSupported)" text:"-"`
	Failure   Text            `json:"failure,omitzero" doc:"type of the exception that its constructor threw" text:"its constructor threw"`
	Listeners []EventListener `json:"listeners" doc:"the EventListeners of the program that get some of its events"`
	EventPipe *EventProvider  `json:"eventPipe,omitempty" doc:"its side that faces EventPipe" text:"EventPipe"`
	ETW       *EventProvider  `json:"etw,omitempty" doc:"its side that faces ETW, which Windows alone has" text:"ETW"`
	Counters  *EventCounters  `json:"counters,omitempty" doc:"its counters" text:"counters"`
}

// Hidden returns why the text form only counts the source.
func (e *EventSource) Hidden() string {
	switch {
	case e.Trimmed:
		return "without fields for listeners: event sources were switched off when the program was published"
	case Is(e.Disposed, true):
		return "disposed"
	case Is(e.Enabled, false) && e.Failure.IsZero():
		return "without a listener"
	}
	return ""
}

// An EventListener is an EventListener that has enabled a source. It stores no level and no keywords.
type EventListener struct {
	Address target.Addr  `json:"address" doc:"the object"`
	Type    Text         `json:"type" doc:"its type"`
	Events  Maybe[int64] `json:"events" doc:"kinds of events of the source that it gets" text:"kinds of events"`
}

// An EventProvider is the combined settings of all EventPipe or ETW sessions for a source.
type EventProvider struct {
	Enabled  Maybe[bool]          `json:"enabled,omitzero" doc:"a session has enabled it" text:"-"`
	Level    Maybe[int64]         `json:"level,omitzero" doc:"the highest level: 1 critical, 2 error, 3 warning, 4 informational, 5 verbose" text:"level;nonzero"`
	Keywords Maybe[Hex]           `json:"keywords,omitzero" doc:"the keywords" text:"keywords;nonzero"`
	Sessions Maybe[EventSessions] `json:"sessions,omitzero" doc:"the sessions of EventPipe" text:"session;row"`
}

// EventSessions lists the numbers of EventPipe sessions, 0 to 63.
type EventSessions []int

// EventCounters are the counters of a source.
type EventCounters struct {
	Count  Maybe[int64] `json:"count,omitzero" doc:"how many there are" text:"="`
	Millis Maybe[int64] `json:"intervalMs,omitzero" doc:"how often they are read, in milliseconds; 0 if nobody reads them" text:"read every %;nonzero"`
}

// An EventPipeProvider is an EventPipe provider from the runtime's list.
type EventPipeProvider struct {
	Address  target.Addr   `json:"address" doc:"the runtime's EventPipeProvider"`
	Name     string        `json:"name" doc:"its name; that of a source of the runtime may be there twice"`
	Sessions EventSessions `json:"sessions" doc:"the sessions that have enabled it" text:"session;row"`
	Level    int64         `json:"level" doc:"their highest level"`
	Keywords Hex           `json:"keywords" doc:"their keywords" text:"keywords"`
}

// Hidden returns why the text form only counts the provider.
func (p *EventPipeProvider) Hidden() string {
	if len(p.Sessions) == 0 {
		return "without a session"
	}
	return ""
}
