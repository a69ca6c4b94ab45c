package threads

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// An Apartment is the COM apartment that a thread has entered.
type Apartment uint8

// The apartments.
const (
	ApartmentUnknown Apartment = iota // no apartment, or unknown
	ApartmentSTA
	ApartmentMTA
	ApartmentNTA
)

// String returns the name that clrthreads prints.
func (a Apartment) String() string { return [...]string{"Ukn", "STA", "MTA", "NTA"}[a&3] }

// ApartmentOf returns a thread's COM apartment. It is read from the thread's environment block or, if that is not in
// the dump, from the runtime's record. It is unknown, without an error, on systems other than Windows, and for a thread
// that did not initialize COM.
func ApartmentOf(t *stackwalk.Thread, mem target.Memory) (Apartment, error) {
	a, err := tebApartment(t, mem)
	if !errors.Is(err, target.ErrNotInDump) || t.Managed == nil {
		return a, err
	}
	switch state := t.Managed.State; {
	case state&dac.ThreadInSTA != 0:
		return ApartmentSTA, nil
	case state&dac.ThreadInMTA != 0:
		return ApartmentMTA, nil
	}
	return ApartmentUnknown, err
}

func tebApartment(t *stackwalk.Thread, mem target.Memory) (Apartment, error) {
	block := target.Addr(0)
	switch {
	case t.OS != nil && t.OS.TEB != 0:
		block = t.OS.TEB
	case t.Managed != nil && t.Managed.OSID != 0:
		block = t.Managed.TEB
	}
	if block == 0 {
		return ApartmentUnknown, nil
	}
	flags, err := teb.OLEFlags(mem, block)
	switch {
	case err != nil:
		return ApartmentUnknown, err
	case flags&teb.OLEApartmentThreaded != 0:
		return ApartmentSTA, nil
	case flags&teb.OLEMultiThreaded != 0:
		return ApartmentMTA, nil
	case flags&teb.OLEInNeutral != 0:
		return ApartmentNTA, nil
	}
	return ApartmentUnknown, nil
}
