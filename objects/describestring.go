package objects

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// errEnough stops the writing of a text when the consumer stops.
var errEnough = errors.New("enough")

// DescribeString returns the whole text of the string at a. The error is target.ErrUnsupported for other objects.
func (r *Reader) DescribeString(a target.Addr) (*answer.String, error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	if !o.IsString() {
		name, _ := o.Type.Name() // used in the message only
		return nil, target.Unsupportedf("object %016x is not a string but %s", uint64(a), name)
	}
	n, err := o.Length()
	if err != nil {
		return nil, err
	}
	s := &answer.String{Address: a, Length: n}
	if n > 0 {
		s.Text.Parts = o.parts
	}
	return s, nil
}

// parts iterates over the text of a string. An error comes last.
func (o Object) parts(yield func(string, error) bool) {
	err := o.text(-1, func(part []byte) error {
		if !yield(string(part), nil) {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		yield("", err)
	}
}
