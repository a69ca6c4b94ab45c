package stresslog

import (
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A Log is the stress log of a runtime.
type Log struct {
	rt       *dac.Runtime
	mem      target.Memory
	typeName func(target.Addr, dac.NameStyle) (string, error)
	names    Names
	off      offsets
	header   header
	modules  []module
	strings  map[target.Addr]text

	chunkBytes, messageBytes uint64
	signature                uint32
	mark                     target.Addr // bits that a collection sets in MethodTable pointers
}

// A Names names what the arguments of messages point to.
type Names interface {
	Method(target.Addr) (string, error) // name of a MethodDesc
	Code(target.Addr) (string, error)   // name of an address in code, or of a native symbol
}

type offsets struct {
	Log struct {
		Facilities int `layout:"LoggedFacilities"`
		Level      int `layout:"Level"`
		PerThread  int `layout:"MaxSizePerThread"`
		Total      int `layout:"MaxSizeTotal"`
		Chunks     int `layout:"TotalChunks"`
		Threads    int `layout:"Logs"`
		Frequency  int `layout:"TickFrequency"`
		Start      int `layout:"StartTimestamp"`
		Module     int `layout:"ModuleOffset"`
		Modules    int `layout:"Modules,optional"`
	} `struct:"StressLog"`
	Module struct {
		Size  int `layout:"size"`
		Base  int `layout:"BaseAddress"`
		Bytes int `layout:"Size"`
	} `struct:"StressLogModuleDesc,optional"`
	Thread struct {
		Next    int `layout:"Next"`
		ID      int `layout:"ThreadId"`
		Wrapped int `layout:"WriteHasWrapped"`
		Current int `layout:"CurrentPtr"`
		Head    int `layout:"ChunkListHead"`
		Tail    int `layout:"ChunkListTail"`
		Written int `layout:"CurrentWriteChunk"`
	} `struct:"ThreadStressLog"`
	Chunk struct {
		Next int `layout:"Next"`
		Buf  int `layout:"Buf"`
		Sig1 int `layout:"Sig1"`
		Sig2 int `layout:"Sig2"`
	} `struct:"StressLogChunk"`
	Message struct {
		Size int `layout:"size"`
	} `struct:"StressMsgHeader"`
}

type header struct {
	facilities, level, perThread, total uint32
	chunks                              int32
	threads                             target.Addr
	frequency, start                    uint64
}

// A module is an image with format strings. A message has the offset of its string in all modules, concatenated.
type module struct {
	base  target.Addr
	bytes uint64
}

// errOlder is the error for runtimes without a layout for their log.
var errOlder = target.Unsupportedf("this runtime does not describe its stress log (.NET 10 and later do)")

// Open opens the stress log of a runtime. It is empty if the process keeps no log.
func Open(rt *dac.Runtime, names Names) (*Log, error) {
	l := &Log{rt: rt, mem: rt.Memory(), typeName: rt.TypeName, names: names, strings: map[target.Addr]text{}}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("stress log: %w", err)
	}
	return l, nil
}

func (l *Log) open() error {
	ly := l.rt.Layout()
	if err := ly.BindAll(&l.off); err != nil {
		if errors.As(err, new(*layout.RefusedError)) {
			return err
		}
		return errOlder
	}
	if l.off.Message.Size < messageWords*8 {
		return target.Corruptf("the head of a message has %d bytes", l.off.Message.Size)
	}
	var signature, mark uint64
	for name, v := range map[string]*uint64{"StressLogChunkSize": &l.chunkBytes, "StressLogMaxMessageSize": &l.messageBytes,
		"StressLogValidChunkSig": &signature, "ObjectToMethodTableUnmask": &mark} {
		var err error
		if *v, err = ly.Uint(name); err != nil {
			return err
		}
	}
	l.mark = target.Addr(mark)
	if l.chunkBytes == 0 || l.chunkBytes > limits.StressLogChunkBytes {
		return target.Corruptf("a chunk of %d bytes", l.chunkBytes)
	}
	l.signature = uint32(signature)
	at, err := l.rt.GlobalPointer("StressLog")
	if err != nil || at == 0 { // the runtime sets it when it begins a log
		return err
	}
	if err := l.readHeader(at); err != nil {
		return err
	}
	return l.readModules(at)
}

func (l *Log) readHeader(at target.Addr) error {
	o := &l.off.Log
	rd := layout.Reader{Mem: l.rt.Memory(), Base: at}
	l.header = header{facilities: rd.U32(o.Facilities), level: rd.U32(o.Level), perThread: rd.U32(o.PerThread), total: rd.U32(o.Total),
		chunks: int32(rd.U32(o.Chunks)), threads: rd.Ptr(o.Threads), frequency: rd.U64(o.Frequency), start: rd.U64(o.Start)}
	return rd.Err
}

// readModules reads the images that have format strings: a table, or a single image in older runtimes.
func (l *Log) readModules(at target.Addr) error {
	ly := l.rt.Layout()
	rd := layout.Reader{Mem: l.rt.Memory(), Base: at}
	if has, err := ly.Uint("StressLogHasModuleTable"); err != nil || has == 0 {
		l.modules = []module{{rd.Ptr(l.off.Log.Module), 1 << formatOffsetBits}}
		return errors.Join(err, rd.Err)
	}
	if l.off.Log.Modules == layout.Absent || l.off.Module.Size == layout.Absent {
		return target.Unsupportedf("the layout lacks the log's table of images")
	}
	table := at + target.Addr(l.off.Log.Modules)
	count, err := ly.Uint("StressLogMaxModules")
	if err != nil {
		return err
	}
	for i := range min(count, limits.StressLogModules) {
		rd := layout.Reader{Mem: l.rt.Memory(), Base: table + target.Addr(i)*target.Addr(l.off.Module.Size)}
		m := module{rd.Ptr(l.off.Module.Base), rd.U64(l.off.Module.Bytes)}
		if rd.Err != nil {
			return rd.Err
		}
		l.modules = append(l.modules, m)
	}
	return nil
}

// formatAt returns the address of the format string at an offset into all modules.
func (l *Log) formatAt(offset uint64) target.Addr {
	for _, m := range l.modules {
		if offset < m.bytes {
			return m.base + target.Addr(offset)
		}
		offset -= m.bytes
	}
	return 0
}

// Describe returns the log with its messages, the newest first, of all threads or of one. Messages are read while they
// are iterated.
func (l *Log) Describe(ctx context.Context, thread uint64) *answer.StressLog {
	h := &l.header
	out := &answer.StressLog{Enabled: h.threads != 0, Facilities: h.facilities, FacilityNames: Facilities(h.facilities), Level: h.level,
		MaxPerThread: h.perThread, MaxTotal: h.total, Chunks: h.chunks, Frequency: h.frequency}
	logs, err := l.threadLogs()
	var lost []error
	if err != nil {
		lost = append(lost, err)
	}
	for _, t := range logs {
		out.Threads++
		if thread != 0 && t.id != thread {
			continue
		}
		if err := t.rewind(); err != nil {
			lost = append(lost, fmt.Errorf("log of thread %#x: %w", t.id, err))
		}
	}
	var queue newest
	for _, t := range logs {
		if t.has {
			queue = append(queue, t)
		}
	}
	out.Messages = l.messages(ctx, queue, lost, &out.Gaps)
	return out
}

// messages merges the logs of threads by time. lost are the errors of logs that can't be read.
func (l *Log) messages(ctx context.Context, queue newest, lost []error, gaps *answer.Gaps) iter.Seq2[answer.StressMessage, error] {
	return answer.NewRows(gaps, func(yield func(answer.StressMessage, error) bool) error {
		queue := queue.copy()
		heap.Init(&queue)
		for _, err := range lost {
			if !yield(answer.StressMessage{}, err) {
				return nil
			}
		}
		for len(queue) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := queue[0]
			if !yield(l.describe(t), nil) {
				return nil
			}
			err := t.next()
			if err != nil && !yield(answer.StressMessage{}, fmt.Errorf("log of thread %#x: %w", t.id, err)) {
				return nil
			}
			if t.has {
				heap.Fix(&queue, 0)
			} else {
				heap.Pop(&queue)
			}
		}
		return nil
	})
}

func (l *Log) describe(t *threadLog) answer.StressMessage {
	m := &t.message
	out := answer.StressMessage{OSID: uint32(t.id), Facility: m.facility, Facilities: Facilities(m.facility), Format: l.formatAt(m.format)}
	if f := l.header.frequency; f != 0 {
		out.Seconds = float64(int64(m.ticks-l.header.start)) / float64(f)
	}
	out.Text.S, out.Text.Err = l.format(out.Format, m.args[:m.count])
	for _, a := range m.args[:m.count] {
		out.Arguments = append(out.Arguments, target.Addr(a))
	}
	return out
}

// newest is a heap of threads' logs by the time of their next message.
type newest []*threadLog

// copy returns the logs at their current messages, so that they can be read again.
func (q newest) copy() newest {
	out := make(newest, len(q))
	for i, t := range q {
		at := *t
		out[i] = &at
	}
	return out
}

func (q newest) Len() int { return len(q) }
func (q newest) Less(i, j int) bool {
	if a, b := q[i].message.ticks, q[j].message.ticks; a != b {
		return a > b
	}
	return q[i].at < q[j].at
}
func (q newest) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *newest) Push(x any)   { *q = append(*q, x.(*threadLog)) }
func (q *newest) Pop() any {
	old := *q
	t := old[len(old)-1]
	*q = old[:len(old)-1]
	return t
}

// Bits of a message's head: facility 32, number of arguments 6, offset of the format string 39, time 51.
const (
	messageWords     = 2
	countBits        = 6
	formatLowBits    = 26
	formatHighBits   = 13
	formatOffsetBits = formatLowBits + formatHighBits
)

type message struct {
	facility uint32
	count    int
	format   uint64
	ticks    uint64
	args     [1 << countBits]uint64
}

// A threadLog walks the messages of one thread, from the newest to the oldest. A thread fills each chunk from its end.
// Its chunks are a ring: at its limit, a thread reuses the oldest chunk.
type threadLog struct {
	log     *Log
	at      target.Addr
	id      uint64
	wrapped bool
	current target.Addr // the newest message
	tail    target.Addr
	written target.Addr // the chunk with the newest message

	message message
	has     bool

	chunk  target.Addr // being read
	bytes  []byte      // its buffer
	pos    uint64      // position of the next message in it
	end    uint64      // end of the last message
	around bool        // chunk is the first one again, now with the rest of its old messages
	chunks int         // number of chunks read
}

// threadLogs lists the logs of threads. With an error it returns the logs before the unreadable one.
func (l *Log) threadLogs() ([]*threadLog, error) {
	o := &l.off.Thread
	var out []*threadLog
	seen := map[target.Addr]bool{}
	for at := l.header.threads; at != 0; {
		if seen[at] || len(out) == limits.Threads {
			return out, target.Corruptf("the list of the logs of threads does not end")
		}
		seen[at] = true
		rd := layout.Reader{Mem: l.rt.Memory(), Base: at}
		t := &threadLog{log: l, at: at, id: rd.U64(o.ID), wrapped: rd.U8(o.Wrapped) != 0, current: rd.Ptr(o.Current), tail: rd.Ptr(o.Tail), written: rd.Ptr(o.Written)}
		next := rd.Ptr(o.Next)
		if rd.Err != nil {
			return out, fmt.Errorf("log of a thread at %016x: %w", uint64(at), rd.Err)
		}
		out = append(out, t)
		at = next
	}
	return out, nil
}

// rewind reads the newest message.
func (t *threadLog) rewind() error {
	if t.written == 0 {
		return nil // the thread has not written yet
	}
	if err := t.open(t.written); err != nil {
		return err
	}
	buf := t.buffer(t.written)
	if t.current < buf || uint64(t.current-buf) > uint64(len(t.bytes)) {
		return target.Corruptf("the newest message at %016x is not in the chunk at %016x", uint64(t.current), uint64(t.written))
	}
	t.pos = uint64(t.current - buf)
	return t.next()
}

func (t *threadLog) buffer(chunk target.Addr) target.Addr {
	return chunk + target.Addr(t.log.off.Chunk.Buf)
}

// open reads the chunk at a.
func (t *threadLog) open(a target.Addr) error {
	o := &t.log.off.Chunk
	rd := layout.Reader{Mem: t.log.rt.Memory(), Base: a}
	s1, s2 := rd.U32(o.Sig1), rd.U32(o.Sig2)
	if rd.Err != nil {
		return fmt.Errorf("chunk at %016x: %w", uint64(a), rd.Err)
	}
	if s1 != t.log.signature || s2 != t.log.signature {
		return target.Corruptf("there is no chunk at %016x", uint64(a))
	}
	b, err := target.Bytes(t.log.rt.Memory(), t.buffer(a), int(t.log.chunkBytes))
	if err != nil {
		return fmt.Errorf("chunk at %016x: %w", uint64(a), err)
	}
	t.chunk, t.bytes, t.pos, t.end = a, b, 0, uint64(len(b))
	t.chunks++
	return nil
}

// next reads the message at pos, or the newest of the next chunk.
func (t *threadLog) next() error {
	t.has = false
	for t.pos >= t.end {
		if t.around || t.chunk == t.tail && !t.wrapped || t.chunks > limits.StressLogChunks {
			return nil
		}
		next, err := layout.Pointer(t.log.rt.Memory(), t.chunk, t.log.off.Chunk.Next, "StressLogChunk.Next")
		if err != nil || next == 0 {
			return err
		}
		if err := t.open(next); err != nil {
			return err
		}
		if t.around = next == t.written; t.around {
			// Newer messages have overwritten the old ones after them, and a part of the last one.
			t.end = uint64(t.current-t.buffer(next)) - min(t.log.messageBytes, uint64(t.current-t.buffer(next)))
		}
		// A chunk starts with zeros, fewer bytes than a message, before its newest message.
		for t.pos < t.log.messageBytes && t.pos+8 <= uint64(len(t.bytes)) && binary.LittleEndian.Uint64(t.bytes[t.pos:]) == 0 {
			t.pos += 8
		}
		if t.pos >= t.log.messageBytes {
			return nil // the chunk was never written
		}
	}
	return t.decode()
}

func (t *threadLog) decode() error {
	b := t.bytes[t.pos:]
	head := t.log.off.Message.Size
	if len(b) < head {
		return target.Corruptf("a message is cut off at the end of the chunk at %016x", uint64(t.chunk))
	}
	w1, w2 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	m := &t.message
	m.facility, m.count = uint32(w1), int(w1>>32&(1<<countBits-1))
	m.format = w1>>(32+countBits)&(1<<formatLowBits-1) | w2&(1<<formatHighBits-1)<<formatLowBits
	m.ticks = w2 >> formatHighBits
	if len(b) < head+m.count*8 {
		return target.Corruptf("a message with %d arguments is cut off at the end of the chunk at %016x", m.count, uint64(t.chunk))
	}
	for i := range m.count {
		m.args[i] = binary.LittleEndian.Uint64(b[head+8*i:])
	}
	t.pos += uint64(head + m.count*8)
	t.has = true
	return nil
}
