package answer

import "github.com/sosgo/sosgo/internal/encoding/jsonenc"

// The answers below contain iterators, which encoding/json cannot encode, text with lone surrogates, which it
// replaces, or parts that are inlined. A missing row is encoded as {"missing": reason}. The receivers are pointers because iterators complete the
// answer that they are in: a copy would be encoded without its counts.

// MarshalJSON encodes the answer and reads its lists.
func (a *Array) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Async) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Closure) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Disassembly) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Exceptions) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Finalizers) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Handles) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *IL) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Images) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Listing) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer with the fields of a part in its place.
func (a *LoadContext) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Memory) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer with the lone surrogates of its text.
func (a *MemoryText) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *ModuleDetails) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *ParallelStacks) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Profile) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Query) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Returns) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer with the fields of a part in its place.
func (a *RuntimeHeaps) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *StackObjects) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Stacks) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *StressLog) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *SyncBlocks) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *ThreadAnalysis) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *ThrownException) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }

// MarshalJSON encodes the answer and reads its lists.
func (a *Unreachable) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(a) }
