package stackwalk

import "github.com/sosgo/sosgo/dac"

// IsTailCallHelper is isTailCallHelper.
var IsTailCallHelper = isTailCallHelper

// TailCall is tailCall.
func (w *Walker) TailCall(t *dac.Thread, making bool, yield func(Root, error) bool) {
	w.tailCall(t, making, yield)
}
