// Package triage answers "what is wrong with this process" on one page. It asks the questions of the other packages, takes what these
// conclude, and ranks it. It reads nothing itself, and a finding is never stronger than the conclusion that it comes from.
//
// A subject that was looked at whole without a finding is quiet. A subject that could not be looked at, or not whole, is named with the
// reason: what could not be read may be what is wrong.
//
// Stability: unstable.
package triage
