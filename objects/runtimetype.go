package objects

import "github.com/sosgo/sosgo/target"

// RuntimeType returns the TypeHandle that a System.RuntimeType object stands for. ok is false for other objects.
func (o Object) RuntimeType() (th target.Addr, ok bool, err error) {
	if o.Type == nil {
		return 0, false, errNoObject
	}
	name, err := o.Type.Name()
	if err != nil || name != "System.RuntimeType" {
		return 0, false, nil // reported where the name is asked for
	}
	th, err = o.Field("m_handle").Addr()
	return th, true, err
}
