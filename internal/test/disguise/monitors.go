package disguise

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// A managedType is a type of the class library of 10 that becomes a type of 11.
type managedType struct {
	mt     *dac.MethodTable
	fields map[string]target.Addr // offsets in an object, by the names of 11
}

// rename renames a loaded type and its fields. New names are written over the old ones, and over
// the names after them if they are longer.
func (e *eleven) rename(from, to string, fields map[string]string) (*managedType, error) {
	out := &managedType{fields: map[string]target.Addr{}}
	for at, err := range e.rt.TypesNamed(from, "") {
		if err != nil {
			return nil, err
		}
		if out.mt, err = e.rt.TrustedMethodTable(at); err != nil {
			return nil, err
		}
	}
	if out.mt == nil {
		return nil, fmt.Errorf("%s: %w", from, errNotLoaded)
	}
	m, err := e.rt.ModuleOf(out.mt)
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	names, err := e.stringHeap(m.MetadataSource().Addr)
	if err != nil {
		return nil, err
	}
	overwrite := func(index uint32, name string) {
		e.damage = append(e.damage, testcase.Damage{At: names + target.Addr(index), Bytes: append([]byte(name), 0)})
	}
	def, err := md.TypeDef(out.mt.Token.Row())
	if err != nil {
		return nil, err
	}
	if to != "" {
		overwrite(uint32(def.Name), to)
	}
	descs, err := e.rt.Fields(out.mt)
	if err != nil {
		return nil, err
	}
	for i := range descs {
		row, err := md.Field(descs[i].Token.Row())
		if err != nil {
			return nil, err
		}
		name, err := md.String(row.Name)
		if err != nil {
			return nil, err
		}
		if other := fields[name]; other != "" {
			overwrite(uint32(row.Name), other)
			name = other
		}
		if !descs[i].Static {
			out.fields[name] = dac.ObjectHeaderBytes + target.Addr(descs[i].Offset)
		}
	}
	return out, nil
}

var errNotLoaded = errors.New("the type is not loaded")

// stringHeap returns the address of the heap #Strings of the metadata at an address (ECMA-335
// II.24.2).
func (e *eleven) stringHeap(root target.Addr) (target.Addr, error) {
	b, err := target.Bytes(e.rt.Memory(), root, 256)
	if err != nil {
		return 0, err
	}
	at := bytes.Index(b, []byte("#Strings\x00"))
	if at < 8 {
		return 0, errors.New("metadata without #Strings")
	}
	return root + target.Addr(binary.LittleEndian.Uint32(b[at-8:])), nil
}

// A library has the types of a monitor in 11.
type library struct{ lock, condition, waiter *managedType }

func (e *eleven) lockTypes() (l library, err error) {
	if l.lock, err = e.rename("System.Threading.Lock", "", map[string]string{"_waitEvent": "_waitEventOrCondition"}); err != nil {
		return l, err
	}
	if l.condition, err = e.rename("System.Threading.ThreadPoolWorkQueue", "Condition",
		map[string]string{"workItems": "_lock", "highPriorityWorkItems": "_waitersHead"}); err != nil {
		return l, err
	}
	l.waiter, err = e.rename("System.Threading.ThreadPoolWorkQueue+WorkStealingQueue", "Waiter", map[string]string{"m_array": "next"})
	return l, err
}

// managedMonitors converts the monitors that threads wait for to System.Threading.Locks, and the
// runtime's records of waits to those of the class library. It returns the locks by sync block.
func (e *eleven) managedMonitors() (map[target.Addr]target.Addr, error) {
	blocks, pulses := map[target.Addr]dac.SyncBlock{}, map[target.Addr]int{}
	threads, err := e.rt.Threads()
	if err != nil {
		return nil, err
	}
	for i := range threads {
		items, _ := e.rt.BlockingItems(&threads[i])
		for _, item := range items {
			blocks[item.Block.Addr] = item.Block
			if item.Kind == dac.BlockedWait {
				pulses[item.Block.Addr]++
			}
		}
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	types, err := e.lockTypes()
	if err != nil {
		return nil, err
	}
	places, events, err := e.survey(types.lock.mt, len(blocks), threads)
	if err != nil {
		return nil, err
	}
	locks, conditions := map[target.Addr]target.Addr{}, map[target.Addr]target.Addr{}
	for block, b := range blocks {
		at := places[len(locks)]
		locks[block] = at
		state, entries := uint64(b.Waiters)<<7, uint64(0)
		if b.Held {
			state, entries = state|1, uint64(max(b.Recursion, 1)-1)
		}
		lock := e.object(types.lock, map[string]uint64{"_owningThreadId": uint64(b.OwnerID) | state<<32, "_recursionCount": entries})
		binary.LittleEndian.PutUint16(lock[types.lock.fields["_waiterStartTimeMs"]:], uint16(b.Since.Low))
		if n := pulses[block]; n > 0 {
			waiter := target.Addr(0)
			for range n {
				waiter = e.add(e.object(types.waiter, map[string]uint64{"next": uint64(waiter)}))
			}
			conditions[block] = e.add(e.object(types.condition, map[string]uint64{"_lock": uint64(at), "_waitersHead": uint64(waiter)}))
			binary.LittleEndian.PutUint64(lock[types.lock.fields["_waitEventOrCondition"]:], uint64(conditions[block]))
		}
		e.damage = append(e.damage, testcase.Damage{At: at, Bytes: lock})
	}
	if err := e.notes(threads, locks, conditions); err != nil {
		return nil, err
	}
	for block, b := range blocks {
		if slot := events[b.Object]; slot != 0 { // in 11 the event refers to the Lock itself
			e.write(slot, uint64(locks[block]))
			delete(locks, block)
		}
	}
	return locks, nil
}

// object returns the bytes of an object with the given fields.
func (e *eleven) object(t *managedType, fields map[string]uint64) []byte {
	b := make([]byte, t.mt.BaseSize-8) // without the next object's header
	binary.LittleEndian.PutUint64(b, uint64(t.mt.Addr))
	for name, v := range fields {
		binary.LittleEndian.PutUint64(b[t.fields[name]:], v)
	}
	return b
}

// survey returns the addresses of n strings with the size of Locks, and the addresses of the fields
// m_lock of the program's events, by their lock objects. It sets the managed ids in the program's
// Locks.
func (e *eleven) survey(lock *dac.MethodTable, n int, threads []dac.Thread) (out []target.Addr, events map[target.Addr]target.Addr, err error) {
	h, err := e.view.Heap()
	if err != nil {
		return nil, nil, err
	}
	event, err := e.rename("System.Threading.ManualResetEventSlim", "", nil)
	if err != nil {
		return nil, nil, err
	}
	events = map[target.Addr]target.Addr{}
	for o, err := range h.Objects() {
		if err != nil {
			continue
		}
		if o.Type.Addr == lock.Addr {
			e.setOwner(&o, threads)
		}
		if o.Type.Addr == event.mt.Addr || o.Type.Parent == event.mt.Addr {
			slot := o.Addr + event.fields["m_lock"]
			if object, err := target.Pointer(e.rt.Memory(), slot); err == nil {
				events[object] = slot
			}
		}
		if len(out) < n && o.Type.Addr == e.rt.WellKnown().String && (o.Size+7)&^7 == uint64(lock.BaseSize) {
			out = append(out, o.Addr)
		}
	}
	if len(out) < n {
		return nil, nil, fmt.Errorf("%d strings of %d bytes; %d locks need some", len(out), lock.BaseSize, n)
	}
	return out, events, nil
}

// setOwner replaces the OS id of a Lock's owner with the managed id.
func (e *eleven) setOwner(o *heap.Object, threads []dac.Thread) {
	const owner = 16 // Lock._owningThreadId
	id, err := target.Uint32(e.rt.Memory(), o.Addr+owner)
	for i := range threads {
		if err == nil && id != 0 && threads[i].OSID == id {
			e.damage = append(e.damage, testcase.Damage{At: o.Addr + owner, Bytes: binary.LittleEndian.AppendUint32(nil, threads[i].ManagedID)})
		}
	}
}

// notes converts the records of monitors in ThreadBlockingInfo to records of Locks and Conditions.
func (e *eleven) notes(threads []dac.Thread, locks, conditions map[target.Addr]target.Addr) error {
	info, err := e.rename("System.Threading.ThreadBlockingInfo", "", nil)
	if err != nil {
		return err
	}
	fields, err := e.rt.Fields(info.mt)
	if err != nil {
		return err
	}
	place := func(name string) target.Addr { return info.fields[name] - dac.ObjectHeaderBytes } // in a value type
	for i := range threads {
		for f := range fields {
			if !fields[f].Thread {
				continue
			}
			first, err := e.rt.ThreadStaticField(info.mt, &fields[f], &threads[i])
			if err != nil || first.Addr == 0 {
				continue
			}
			at, err := target.Pointer(e.rt.Memory(), first.Addr)
			for err == nil && at != 0 {
				kind, kindErr := target.Uint32(e.rt.Memory(), at+place("_objectKind"))
				block, blockErr := target.Pointer(e.rt.Memory(), at+place("_objectPtr"))
				if err := errors.Join(kindErr, blockErr); err != nil {
					return err
				}
				of := map[uint32]map[target.Addr]target.Addr{0: locks, 1: conditions}[kind]
				if of[block] != 0 {
					variable := e.add(binary.LittleEndian.AppendUint64(nil, uint64(of[block])))
					e.write(at+place("_objectPtr"), uint64(variable))
					e.damage = append(e.damage, testcase.Damage{At: at + place("_objectKind"), Bytes: binary.LittleEndian.AppendUint32(nil, kind+2)})
				}
				at, err = target.Pointer(e.rt.Memory(), at+place("_next"))
			}
		}
	}
	return nil
}
