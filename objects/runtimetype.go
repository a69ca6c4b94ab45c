package objects

import "github.com/sosgo/sosgo/target"

// RuntimeType is the TypeHandle that an object of class System.RuntimeType
// stands for; it reports false for objects of other classes.
func (o Object) RuntimeType() (th target.Addr, ok bool, err error) {
	if o.Type == nil {
		return 0, false, errNoObject
	}
	name, err := o.Type.Name()
	if err != nil || name != "System.RuntimeType" {
		return 0, false, nil // an unknown name is told where the name is asked for
	}
	th, err = o.Field("m_handle").Addr()
	return th, true, err
}
