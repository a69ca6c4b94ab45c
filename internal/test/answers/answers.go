// Package answers lists the functions that compute an answer about a process. Tests use it to check all of them
// against one rule. list.go is generated; Call calls one function.
package answers

import (
	"context"
	"reflect"

	"github.com/sosgo/sosgo/process"
)

// Call calls a function of All with zero values for all parameters after the process. It returns the answer and the
// error.
func Call(ctx context.Context, name string, p *process.Process) (reflect.Value, error) {
	f := reflect.ValueOf(All[name])
	args := []reflect.Value{reflect.ValueOf(&ctx).Elem(), reflect.ValueOf(p)}
	last := f.Type().NumIn()
	if f.Type().IsVariadic() {
		last--
	}
	for i := 2; i < last; i++ {
		args = append(args, reflect.Zero(f.Type().In(i)))
	}
	out := f.Call(args)
	err, _ := out[1].Interface().(error)
	return out[0], err
}
