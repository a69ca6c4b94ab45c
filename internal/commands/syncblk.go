package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func syncBlkCommand() cli.Command {
	return cli.Command{
		Name: "syncblk", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list the sync blocks that are locked, and who holds them",
		Help: "MonitorHeld is 1 for the owner and 2 for each thread that waits. Locks that nobody has waited for stand in " +
			"the header of the object (dumpheap -thinlock), those of System.Threading.Lock in its fields.",
		Args:    []cli.Arg{{Name: "index", Kind: cli.Int, Optional: true, Summary: "only this sync block, locked or not"}},
		Options: []cli.Option{{Name: "all", Summary: "also those that are not locked"}},
		Result:  []report.Part{report.ListOf[syncBlockResult]("blocks"), report.FieldOf[int]("total"), report.FieldOf[int]("free")},
		Run:     runSyncBlk,
	}
}

type syncBlockResult struct {
	Index       uint32         `json:"index" doc:"index of the sync block"`
	Address     report.Address `json:"address" doc:"the SyncBlock"`
	MonitorHeld uint32         `json:"monitorHeld" doc:"1 for the owner and 2 for each waiting thread"`
	Waiters     uint32         `json:"waiters" doc:"threads that wait"`
	Recursion   uint32         `json:"recursion" doc:"times that the owner entered"`
	Thread      report.Address `json:"thread,omitempty" doc:"Thread that holds the lock"`
	OSID        uint32         `json:"osId,omitempty" doc:"its OS thread id"`
	Object      report.Address `json:"object" doc:"the object that is locked; 0 for a free entry"`
	Type        string         `json:"type,omitempty" doc:"its type"`
}

// A syncBlockPrinter prints sync blocks and counts them.
type syncBlockPrinter struct {
	c           *cli.Context
	rt          *dac.Runtime
	threads     []sosgo.Thread
	total, free int
}

func runSyncBlk(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	p := &syncBlockPrinter{c: c, rt: rt, threads: threads}
	if c.JSON() != nil {
		if err := c.JSON().List("blocks"); err != nil {
			return err
		}
	} else {
		c.Printf("Index         SyncBlock MonitorHeld Recursion Owning Thread Info          SyncBlock Owner\n")
	}
	index, one := c.Int("index")
	for b, err := range rt.SyncBlocks() {
		if err := c.Context().Err(); err != nil {
			return err
		}
		if err != nil && b.Index <= 1 && b.Addr == 0 {
			return err // there is no table
		}
		if b.Index == 0 {
			continue
		}
		p.total++
		if err == nil && b.Object == 0 {
			p.free++
		}
		chosen := b.Held || b.Waiters > 0 || c.Bool("all") || err != nil
		if one {
			chosen = int64(b.Index) == index
		}
		if !chosen {
			continue
		}
		if err := p.block(&b, err); err != nil {
			return err
		}
	}
	return p.totals()
}

func (p *syncBlockPrinter) block(b *dac.SyncBlock, err error) error {
	c := p.c
	if err != nil {
		c.Warn(err)
		if c.JSON() == nil {
			c.Printf("%5d %s\n", b.Index, notInDump)
		}
		return nil
	}
	name := p.typeName(b.Object)
	held := 2 * b.Waiters
	if b.Held {
		held++
	}
	owner := p.owner(b)
	if c.JSON() != nil {
		r := syncBlockResult{Index: b.Index, Address: report.Address(b.Addr), MonitorHeld: held, Waiters: b.Waiters,
			Recursion: b.Recursion, Object: report.Address(b.Object), Type: name}
		if owner != nil {
			r.Thread, r.OSID = report.Address(owner.Managed.Addr), owner.Managed.OSID
		}
		return c.JSON().Item("blocks", r)
	}
	thread, info := b.OwnerThread, "    none  "
	if b.Held {
		info = " orphaned "
	}
	if owner != nil {
		thread = owner.Managed.Addr
		info = fmt.Sprintf("%x  XXX ", owner.Managed.OSID)
		if owner.Index >= 0 {
			info = fmt.Sprintf("%x %3d ", owner.Managed.OSID, owner.Index)
		}
	}
	c.Printf("%5d %s  %11d %9d %s %s  %s %s\n", b.Index, report.Hex16(b.Addr), held, b.Recursion, report.Hex16(thread), info,
		report.Hex16(b.Object), report.Escape(name))
	return nil
}

// typeName is the name of the type of a locked object, Free of a free entry.
func (p *syncBlockPrinter) typeName(object target.Addr) string {
	if object == 0 {
		return "Free"
	}
	name, err := objectTypeName(p.rt, object)
	if errors.Is(err, target.ErrCorrupt) {
		p.c.Warn(err)
		return "<Invalid Object>"
	}
	return textOr(p.c, name, err)
}

// owner is the thread that holds the block's lock, nil if nobody does or the
// thread is gone.
func (p *syncBlockPrinter) owner(b *dac.SyncBlock) *sosgo.Thread {
	if !b.Held {
		return nil
	}
	for i := range p.threads {
		m := p.threads[i].Managed
		if m != nil && (b.OwnerThread != 0 && m.Addr == b.OwnerThread || b.OwnerID != 0 && m.ManagedID == b.OwnerID) {
			return &p.threads[i]
		}
	}
	return nil
}

func (p *syncBlockPrinter) totals() error {
	if j := p.c.JSON(); j != nil {
		if err := j.Field("total", p.total); err != nil {
			return err
		}
		return j.Field("free", p.free)
	}
	p.c.Printf("-----------------------------\nTotal           %d\nFree            %d\n", p.total, p.free)
	return nil
}
