package dac

import (
	"fmt"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An EventPipeProvider is a source of events that sessions of EventPipe can enable (ep-provider.h).
type EventPipeProvider struct {
	Addr     target.Addr
	Name     string
	Sessions uint64 // one bit for each session that enabled it
	Keywords uint64 // union of all its sessions
	Level    uint32 // highest of its sessions
}

// eventPipeOffsets holds the offsets of EventPipe's structures, which no contract describes. The lists are from
// dn-list.h or, before .NET 8, from slist.h, where the head is the first node's address. .NET Core 3.1 has the class
// of eventpipeprovider.h with an SString as its name.
type eventPipeOffsets struct {
	Provider struct {
		Keywords  int `layout:"Keywords"`
		Sessions  int `layout:"Sessions"`
		Name      int `layout:"Name,optional"`
		NameFlags int `layout:"NameFlags,optional"`
		WideName  int `layout:"WideName,optional"`
		Config    int `layout:"Config"`
		Level     int `layout:"Level"`
	} `struct:"EventPipeProvider"`
	Config struct {
		Providers int `layout:"Providers"`
	} `struct:"EventPipeConfiguration"`
	List struct {
		Head int `layout:"Head"`
	} `struct:"EventPipeList"`
	Node struct {
		Data int `layout:"Data"`
		Next int `layout:"Next"`
	} `struct:"EventPipeListNode"`
}

// EventPipeProviders lists the providers of EventPipe: the runtime's and the EventSources'. one is any provider, such
// as the handle of a managed EventPipeEventProvider. A list without it is an error, because it is another structure.
func (r *Runtime) EventPipeProviders(one target.Addr) ([]EventPipeProvider, error) {
	o := &eventPipeOffsets{}
	if err := r.layout.BindAll(o); err != nil {
		return nil, fmt.Errorf("providers of EventPipe: %w", err)
	}
	config, err := r.ptr(one, o.Provider.Config, "EventPipeProvider.Config")
	if err != nil {
		return nil, err
	}
	list, err := r.ptr(config, o.Config.Providers, "EventPipeConfiguration.Providers")
	if err != nil {
		return nil, err
	}
	node, err := r.ptr(list, o.List.Head, "EventPipeList.Head")
	var out []EventPipeProvider
	found := false
	for err == nil && node != 0 && len(out) < limits.EventPipeProviders {
		rd := layout.Reader{Mem: r.mem, Base: node}
		at, next := rd.Ptr(o.Node.Data), rd.Ptr(o.Node.Next)
		if rd.Err != nil {
			return nil, rd.Err
		}
		rd = layout.Reader{Mem: r.mem, Base: at}
		p := EventPipeProvider{Addr: at, Sessions: rd.U64(o.Provider.Sessions), Keywords: rd.U64(o.Provider.Keywords), Level: rd.U32(o.Provider.Level)}
		owner := rd.Ptr(o.Provider.Config)
		if rd.Err != nil {
			return nil, rd.Err
		}
		if owner != config {
			return nil, target.Corruptf("provider %016x of EventPipe belongs to %016x, and is in the list of %016x", uint64(at), uint64(owner), uint64(config))
		}
		p.Name, err = r.eventPipeName(o, at)
		found = found || at == one
		out, node = append(out, p), next
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("providers of EventPipe: %w", err)
	case node != 0:
		return nil, target.Corruptf("the list of EventPipe's providers has no end")
	case !found:
		return nil, target.Corruptf("provider %016x is not in the list of EventPipe's providers", uint64(one))
	}
	return out, nil
}

// wideString is the representation of an SString in UTF-16. representation selects the bits of the
// representation (sstring.h).
const (
	wideString     = 4
	representation = 7
)

// eventPipeName returns the name of a provider.
func (r *Runtime) eventPipeName(o *eventPipeOffsets, at target.Addr) (string, error) {
	rd := layout.Reader{Mem: r.mem, Base: at}
	if o.Provider.Name == layout.Absent {
		flags, text := rd.U32(o.Provider.NameFlags), rd.Ptr(o.Provider.WideName)
		switch {
		case rd.Err != nil:
			return "", rd.Err
		case flags&representation != wideString:
			return "", target.Corruptf("the name of provider %016x of EventPipe is no text in UTF-16", uint64(at))
		}
		return target.UTF16String(r.mem, text, limits.IdentifierBytes)
	}
	text := rd.Ptr(o.Provider.Name)
	if rd.Err != nil {
		return "", rd.Err
	}
	name, err := target.CString(r.mem, text, limits.IdentifierBytes)
	if err == nil && !utf8.ValidString(name) {
		err = target.Corruptf("the name of provider %016x of EventPipe is no text", uint64(at))
	}
	return name, err
}
