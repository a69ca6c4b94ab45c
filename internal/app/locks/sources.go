package locks

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// sourceCore is the struct by which a class of the program is an IValueTaskSource.
const sourceCore = "ManualResetValueTaskSourceCore"

// isSource reports whether an object has a ManualResetValueTaskSourceCore, by which code completes it.
func (s *survey) isSource(a target.Addr) bool {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil || o.Type == nil {
		return false
	}
	list, err := o.Type.Fields()
	if err != nil {
		return false
	}
	for _, f := range list {
		if f.Static {
			continue
		}
		if name, err := f.TypeName(dac.NameManaged); err == nil && strings.HasPrefix(name, "System.Threading.Tasks.Sources."+sourceCore) {
			return true
		}
	}
	return false
}
