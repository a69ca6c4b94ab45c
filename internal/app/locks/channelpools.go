package locks

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A channelPool is an empty channel from which code takes what it gives back later, or with its entries alone an object that is entered and left so.
type channelPool struct {
	channel *channelWait // nil for an object with a semaphore
	thing   *thing
	writer  target.Addr
	ops     []*operation
	entries []entry // the methods that take from it for their callers, with those that give back
}

// takesOne reports whether a method takes one item from a channel.
func takesOne(method string) bool {
	return method == readItem || method == "ChannelReader.TryRead"
}

// readItem takes an item from a channel for sure.
const readItem = "ChannelReader.ReadAsync"

// takes and gives report whether a call that names a method may take an item, or give one.
func (p *channelPool) takes(method string) bool {
	return p.channel != nil && takesOne(method) || slices.ContainsFunc(p.entries, func(e entry) bool { return e.named(method) })
}

func (p *channelPool) gives(method string) bool {
	return p.channel != nil && endsChannel(method) || slices.ContainsFunc(p.entries, func(e entry) bool { return e.leaves(method) })
}

// sought selects the calls that give an item.
func (p *channelPool) sought(method string) (target.Addr, bool) {
	if p.channel != nil && endsChannel(method) {
		return p.writer, true
	}
	for i := range p.entries {
		class, _, _ := strings.Cut(p.entries[i].method, ".")
		if p.entries[i].leaves(method) && (strings.HasPrefix(method, class+".") || ofInterface(method)) {
			return p.entries[i].this, true
		}
	}
	return 0, false
}

// ofInterface reports whether the class of a method has the name of an interface, by which code may call a method of the pool.
func ofInterface(method string) bool {
	return len(method) > 1 && method[0] == 'I' && method[1] >= 'A' && method[1] <= 'Z'
}

// after reports whether all that IL does to give an item is behind a call that takes one. So is what a method of the pool does, for its callers.
func (p *channelPool) after(md *metadata.Metadata, il []byte) bool {
	took, gave := false, false
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return false
		}
		if in.Kind != metadata.OperandMethod {
			continue
		}
		method := tasks.MemberName(md, in.Token())
		if took = took || p.takes(method); p.gives(method) {
			if gave = true; !took {
				return p.isGiver(il)
			}
		}
	}
	return gave
}

// isGiver reports whether IL is of a method of the pool by which its callers give an item back.
func (p *channelPool) isGiver(il []byte) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool {
		return slices.ContainsFunc(e.gives, func(g tasks.Giver) bool {
			return slices.ContainsFunc(g.Code, func(code []byte) bool { return bytes.Equal(code, il) })
		})
	})
}

// channelPools describes the channels with code that has taken an item, gives it back later, and waits for another one meanwhile: if all that may give one stands so,
// nothing ever comes.
func (g *grapher) channelPools() ([]answer.Verdict, error) {
	var pools []*channelPool
	for _, op := range g.s.ops {
		t := op.thing
		if t.channel == nil || t.channel.kind != &channelKind || t.writes || t.channel.items.Value != 0 || !op.own {
			continue
		}
		i := slices.IndexFunc(pools, func(p *channelPool) bool { return p.channel.object.Addr == t.channel.object.Addr })
		if i < 0 {
			i = len(pools)
			pools = append(pools, &channelPool{channel: t.channel, thing: t, writer: g.s.writerOf(t.channel.object)})
		}
		pools[i].ops = append(pools[i].ops, op)
	}
	slices.SortStableFunc(pools, func(a, b *channelPool) int { return cmp.Compare(len(b.ops), len(a.ops)) })
	var out []answer.Verdict
	for _, p := range pools[:min(len(pools), mostDependents)] {
		if p.writer == 0 || slices.ContainsFunc(p.ops, func(op *operation) bool { return op.limited || op.first }) {
			continue
		}
		list, err := g.poolHolders(p)
		if err != nil {
			return out, err
		}
		if len(list) > 0 {
			out = append(out, g.takenAgain(p, list))
		}
	}
	return out, nil
}

// poolHolders returns the suspended methods that have taken an item from a channel, give it back later and wait for another one. It returns nothing if others may give
// an item, or that is not known.
func (g *grapher) poolHolders(p *channelPool) ([]holder, error) {
	s := g.s
	waits := map[target.Addr]bool{}
	for _, op := range p.ops {
		waits[op.box] = true
	}
	ours := func(c *tasks.Call) bool { return c.Object == 0 || s.channelOf(c.Object) == p.channel.object.Addr }
	for m, err := range s.set.Suspended(s.ctx, takesOne, endsChannel) {
		if err != nil {
			return nil, err
		}
		is := func(c tasks.Call) bool { return endsChannel(c.Method) && (c.Object == 0 || c.Object == p.writer) }
		if waits[m.Object] && m.Err == nil && m.This != 0 && !slices.ContainsFunc(m.Later, is) && !slices.ContainsFunc(m.Calls, is) {
			e := entry{method: shortMethod(m.Name.S), this: m.This}
			if !slices.ContainsFunc(p.entries, func(x entry) bool { return x.method == e.method && x.this == e.this }) {
				e.gives = s.found.tasks.Givers(e.this, p.writer, endsChannel, func(string) bool { return false })
				p.entries = append(p.entries, e)
			}
		}
	}
	var out []holder
	for m, err := range s.set.Suspended(s.ctx, p.takes, p.gives) {
		if err != nil {
			return nil, err
		}
		if m.Err != nil {
			return nil, nil
		}
		took := slices.IndexFunc(m.Calls, func(c tasks.Call) bool { return !c.Awaits && p.takesBy(&c, ours) })
		gives := func(c tasks.Call) bool { return p.givesBy(&c) }
		if took < 0 || !slices.ContainsFunc(m.Later, gives) && !slices.ContainsFunc(m.Calls, gives) {
			continue
		}
		op := s.standing[m.Object]
		if slices.ContainsFunc(m.Calls[took:], gives) || op == nil || !slices.ContainsFunc(p.ops, func(x *operation) bool { return x == op }) {
			return nil, nil // it may have given it back, or goes on
		}
		out = append(out, holder{box: m.Object, method: m.Name, place: m.Place, strength: answer.StrengthLikely})
	}
	if len(out) == 0 {
		return nil, nil
	}
	others, ok, err := s.code.OnlySuspended(p.sought, p.after)
	if err != nil || !ok || len(others) > 0 {
		return nil, err
	}
	if runs, err := s.givesItem(p); runs || err != nil {
		return nil, s.ctx.Err()
	}
	return out, nil
}

// givesItem reports whether a thread is in a method that takes an item and gives one later.
func (s *survey) givesItem(p *channelPool) (bool, error) {
	leads, err := s.code.Leads(p.sought, func(_ *metadata.Metadata, il []byte) bool { return p.isGiver(il) })
	if err != nil {
		return false, err
	}
	frames, err := s.code.Frames()
	for _, f := range frames {
		meta, err := f.Method.Metadata()
		if err != nil {
			return false, err
		}
		body, err := dac.CodeOf(f.Frame.Runtime).IL(f.Method)
		if err != nil {
			return false, err
		}
		if !p.after(meta, body.Code) {
			continue
		}
		if goes, err := s.code.Goes(f, leads); goes || err != nil {
			return goes, err
		}
	}
	return false, err
}

// takesBy and givesBy report whether a call takes an item from the channel, or gives it one, as far as the code shows on what it is made.
func (p *channelPool) takesBy(c *tasks.Call, ours func(*tasks.Call) bool) bool {
	return c.Method == readItem && ours(c) || slices.ContainsFunc(p.entries, func(e entry) bool { return e.calledBy(c) })
}

func (p *channelPool) givesBy(c *tasks.Call) bool {
	return endsChannel(c.Method) && (c.Object == 0 || c.Object == p.writer) || leavesBy(p.entries, c)
}

// takenAgain concludes that all that would give an item back to a channel wait for another one.
func (g *grapher) takenAgain(p *channelPool, list []holder) answer.Verdict {
	channel := words.Object(p.thing.addr)
	if name := g.nameOf(p.thing); name != "" {
		channel = words.Field(name)
	}
	waits := words.OperationsWait.Of(words.N(len(p.ops)), g.thingText(p.thing), answer.Statement{})
	says := words.TakenAgain.Of(g.holderName(&list[0]), channel, waits)
	if len(list) > 1 {
		says = words.TakenAgainMany.Of(g.holderName(&list[0]), words.N(len(list)-1), channel, waits)
	}
	v := answer.Conclude(answer.FindingDeadlock, says, answer.StrengthLikely)
	v.Rests = words.Searched
	for i := range list[:min(len(list), listedOperations)] {
		v.Because(words.HasTaken.Of(g.holderName(&list[i]), channel))
	}
	v.Because(words.SignalsIL.Of())
	v.Class, v.Thing, v.Waiting = g.s.classes[p.thing.addr], g.thingText(p.thing).Text, boxes(p.ops)
	v.Show = []string{"dumpobj " + addressText(p.thing.addr)}
	for i := range list[:min(len(list), listedOperations)] {
		v.Show = append(v.Show, g.showHolder(&list[i])...)
	}
	v.Sites = []answer.Site{{Method: p.ops[0].method, Does: string(p.thing.kind), Count: len(p.ops)}}
	for _, op := range p.ops {
		if op.wait != nil {
			g.circled[op.wait] = true
		}
		g.failed[op] = true
	}
	return v
}
