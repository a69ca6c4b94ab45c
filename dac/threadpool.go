package dac

import (
	"fmt"
	"math"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A NativePool is the runtime's own thread pool before .NET 7 (win32threadpool.h, ThreadpoolMgr). It ran the
// workers up to .NET 5, and the completion ports up to .NET 6.
type NativePool struct {
	CPU                    int32 // percent, last measured
	Workers                NativePoolCounter
	MinWorkers, MaxWorkers int32
	Ports                  NativePoolCounter
	MinPorts, MaxPorts     int32
	MaxFreePorts           int32
}

// A NativePoolCounter counts threads of the native pool (win32threadpool.h, ThreadCounter::Counts).
type NativePoolCounter struct{ MaxWorking, Active, Working, Retired int16 }

// A HillClimbingEntry is an entry of the log in which the native pool records changes of its target for running
// workers (hillclimbing.h, HillClimbingLogEntry).
type HillClimbingEntry struct {
	Ticks      uint32 // milliseconds since the machine started
	Transition int32  // reason: an index into the names of the transitions
	Threads    int32  // new target
	Samples    int32
	Throughput float32
}

// NativePool reads the runtime's own thread pool. It returns target.ErrUnsupported for a runtime without one,
// or if the layout lacks its address.
func (r *Runtime) NativePool() (*NativePool, error) {
	var p NativePool
	numbers := []struct {
		name string
		to   *int32
	}{{"ThreadpoolCPUUtilization", &p.CPU}, {"ThreadpoolMinWorkers", &p.MinWorkers}, {"ThreadpoolMaxWorkers", &p.MaxWorkers},
		{"ThreadpoolMinPorts", &p.MinPorts}, {"ThreadpoolMaxPorts", &p.MaxPorts}, {"ThreadpoolMaxFreePorts", &p.MaxFreePorts}}
	for _, n := range numbers {
		v, err := r.nativePoolNumber(n.name)
		if err != nil {
			return nil, err
		}
		*n.to = v
	}
	var err error
	if p.Workers, err = r.nativePoolCounter("ThreadpoolWorkerCounter"); err != nil {
		return nil, err
	}
	p.Ports, err = r.nativePoolCounter("ThreadpoolPortCounter")
	return &p, err
}

func (r *Runtime) nativePoolNumber(name string) (int32, error) {
	at, err := r.layout.Variable(name)
	if err != nil {
		return 0, err
	}
	v, err := target.Uint32(r.mem, at)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return int32(v), nil
}

func (r *Runtime) nativePoolCounter(name string) (NativePoolCounter, error) {
	at, err := r.layout.Variable(name)
	o := &r.off.PoolCounter
	if err == nil && o.Active == layout.Absent {
		err = target.Unsupportedf("the layout of this runtime lacks the members of its thread pool's counters")
	}
	if err != nil {
		return NativePoolCounter{}, err
	}
	rd := layout.Reader{Mem: r.mem, Base: at}
	c := NativePoolCounter{MaxWorking: int16(rd.U16(o.MaxWorking)), Active: int16(rd.U16(o.Active)),
		Working: int16(rd.U16(o.Working)), Retired: int16(rd.U16(o.Retired))}
	if rd.Err != nil {
		return c, fmt.Errorf("%s: %w", name, rd.Err)
	}
	if c.MaxWorking < 0 || c.Active < 0 || c.Working < 0 || c.Retired < 0 {
		return c, target.Corruptf("%s: %d active, %d working, %d retired", name, c.Active, c.Working, c.Retired)
	}
	return c, nil
}

// HillClimbing reads the log of the runtime's own thread pool, the oldest entry first.
func (r *Runtime) HillClimbing() ([]HillClimbingEntry, error) {
	at, err := r.layout.Variable("HillClimbingLog")
	if err != nil {
		return nil, err
	}
	first, err := r.nativePoolNumber("HillClimbingLogFirstIndex")
	if err != nil {
		return nil, err
	}
	size, err := r.nativePoolNumber("HillClimbingLogSize")
	if err != nil {
		return nil, err
	}
	o := &r.off.HillClimbing
	if o.Size == layout.Absent {
		return nil, target.Unsupportedf("the layout of this runtime lacks the members of its hill climbing log")
	}
	room, err := r.layout.Uint("HillClimbingLogCapacity")
	if err != nil {
		return nil, err
	}
	capacity := int32(min(room, limits.HillClimbing))
	if first < 0 || first >= capacity || size < 0 || size > capacity {
		return nil, target.Corruptf("hill climbing log: %d entries from entry %d on", size, first)
	}
	var out []HillClimbingEntry
	for i := range size {
		rd := layout.Reader{Mem: r.mem, Base: at + target.Addr(int((first+i)%capacity)*o.Size)}
		e := HillClimbingEntry{Ticks: rd.U32(o.Ticks), Transition: int32(rd.U32(o.Transition)), Threads: int32(rd.U32(o.Threads)),
			Samples: int32(rd.U32(o.Samples)), Throughput: math.Float32frombits(rd.U32(o.Throughput))}
		if rd.Err != nil {
			return out, fmt.Errorf("hill climbing log: %w", rd.Err)
		}
		out = append(out, e)
	}
	return out, nil
}
